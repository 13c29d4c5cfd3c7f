"""Headway's runtime: what runs in the Lambda function and in the containers. It never imports the CDK."""
