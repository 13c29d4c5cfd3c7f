"""Which actions a workflow runs: each by its commit, which nobody can move, with the release that it is in a comment.

"Security hardening for GitHub Actions", using third-party actions: a tag can be moved or deleted, a full SHA cannot.
"""

#: By the word that stands for it in the text of a job.
ACTIONS = {
    "CHECKOUT": "actions/checkout@34e114876b0b11c390a56381ad16ebd13914f8d5 # v4.3.1",
    "PYTHON": "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0",
    "UPLOAD": "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2",
    "DOWNLOAD": "actions/download-artifact@d3f86a106a0bac45b974a628896c90dbdf5c8093 # v4.3.0",
    "CREDENTIALS": "aws-actions/configure-aws-credentials@b47578312673ae6fa5b5096b330d9fbac3d116df # v4.2.1",
}
