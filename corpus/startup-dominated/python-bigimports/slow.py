import argparse
import asyncio
import concurrent.futures
import csv
import ctypes
import decimal
import difflib
import doctest
import email.mime.text
import ftplib
import http.server
import imaplib
import logging.config
import multiprocessing
import pdb
import pydoc
import smtplib
import sqlite3
import ssl
import tarfile
import unittest.mock
import urllib.request
import xml.dom.minidom
import xmlrpc.client
import zipfile

print(sum(range(100)))
