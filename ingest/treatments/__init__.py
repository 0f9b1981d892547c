"""Treatments: courses, their marks, and their harms."""
