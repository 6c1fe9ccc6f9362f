"""A WebSocket server that answers every message in pieces of its own choice, written with the websockets package.

    echo.py PORT [CERTIFICATE KEY]

It speaks the subprotocol mqtt, sends each message back as a fragmented one with Pings between, and closes with the status
that follows the byte 0xC1 in a message of three bytes. It says "listening" when it does.
"""

import asyncio
import ssl
import sys

import websockets


def fragments(message):
    """The message in pieces of growing size, as a fragmented message has them."""
    size, start = 1, 0
    while start < len(message):
        yield message[start : start + size]
        start += size
        size *= 3


async def serve(socket):
    async for message in socket:
        if isinstance(message, str):
            raise SystemExit("a client of MQTT sent text")
        if len(message) == 3 and message[0] == 0xC1:
            await socket.close(int.from_bytes(message[1:], "big"), "as you wish")
            return
        pong = await socket.ping(b"are you there?")
        await socket.send(list(fragments(message)) or message)
        await pong  # The client must have answered.


async def main(port, certificate=None, key=None):
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    async with websockets.serve(
        serve, "127.0.0.1", port, ssl=context, subprotocols=["mqtt"], compression="deflate", max_size=1 << 20
    ):
        print("listening", flush=True)
        await asyncio.Future()


asyncio.run(main(int(sys.argv[1]), *sys.argv[2:]))
