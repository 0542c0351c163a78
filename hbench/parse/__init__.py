"""hbench.parse"""
