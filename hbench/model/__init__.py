"""hbench.model"""
