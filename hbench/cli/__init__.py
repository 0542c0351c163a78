"""hbench.cli"""
