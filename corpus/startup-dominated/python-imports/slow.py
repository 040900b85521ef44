"""A digest of a few numbers; the modules that other commands of this tool need come along."""

import argparse
import asyncio
import concurrent.futures
import ctypes
import decimal
import difflib
import doctest
import email.mime.multipart
import ftplib
import hashlib
import http.client
import http.server
import imaplib
import inspect
import json
import logging.config
import logging.handlers
import multiprocessing.pool
import pdb
import pydoc
import smtplib
import sqlite3
import ssl
import tarfile
import tempfile
import tomllib
import unittest.mock
import urllib.request
import uuid
import xml.dom.minidom
import xml.etree.ElementTree
import xml.sax
import xmlrpc.client
import zipfile

digest = b""
for _ in range(60000):
    digest = hashlib.sha256(digest).digest()
print(digest.hex())
