"""The RAND Health Insurance Experiment as hbench tasks."""
