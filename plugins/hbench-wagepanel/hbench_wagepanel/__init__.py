"""Wages, union membership and hours of 545 young men as hbench tasks."""
