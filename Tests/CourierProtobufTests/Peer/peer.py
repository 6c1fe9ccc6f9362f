"""Google's protobuf library for Python as the other side of a test.

    peer.py DESCRIPTORS TYPE random SEED COUNT [WITHOUT…]   random messages, if need be without unknown fields or
                                                            without oneof-messages
    peer.py DESCRIPTORS TYPE echo < MESSAGES        the messages, read and written again
    peer.py DESCRIPTORS TYPE accepts < MESSAGES     one byte for each message: 1 if it can be read
    peer.py DESCRIPTORS TYPE json < MESSAGES        each message as JSON
    peer.py DESCRIPTORS TYPE parse-json < TEXTS     each JSON text as a message

Messages and texts stand one after the other, each behind its length in four bytes, the lowest first.
"""

import random
import struct
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import FieldDescriptor as F


def load(path):
    files = descriptor_pb2.FileDescriptorSet.FromString(open(path, "rb").read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return pool


def class_of(pool, name):
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName(name))


def read_all():
    data, at = sys.stdin.buffer.read(), 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        yield data[at + 4 : at + 4 + length]
        at += 4 + length


def write(data):
    sys.stdout.buffer.write(struct.pack("<I", len(data)) + data)


def canonical(message):
    return message.SerializePartialToString(deterministic=True)


def settle_maps(message):
    """Keeps the last of the entries with the same key, as any look at a map does; unread, the parser's list stays."""
    for field, value in message.ListFields():
        if field.type != F.TYPE_MESSAGE:
            continue
        if field.message_type.GetOptions().map_entry:
            for key in list(value):
                child = value[key]
                if field.message_type.fields_by_name["value"].type == F.TYPE_MESSAGE:
                    settle_maps(child)
        else:
            for child in value if field.label == F.LABEL_REPEATED else [value]:
                settle_maps(child)


class Randomly:
    def __init__(self, seed, without=()):
        self.random = random.Random(seed)
        self.without = without

    def integer(self, bits, signed):
        kind = self.random.randrange(5)
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if kind == 0:
            return 0
        if kind == 1:
            return self.random.choice([low, high, 1, max(low, -1), 127, 128, 16383, 16384])
        if kind == 2:
            return self.random.randint(max(low, -300), 300)
        return self.random.randint(low, high) >> self.random.randrange(bits)

    def floating(self, size):
        kind = self.random.randrange(6)
        if kind == 0:
            return self.random.choice([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1.0, -1.5])
        value = self.random.uniform(-1, 1) * 10 ** self.random.randint(-30, 30)
        return struct.unpack("<f", struct.pack("<f", value))[0] if size == 4 else value

    def text(self):
        letters = "abcdefghijklmnopqrstuvwxyz 0123456789\"\\\n\0äöüß€→漢字🙂👩‍👧"
        return "".join(self.random.choice(letters) for _ in range(self.random.choice([0, 1, 3, 8, 15, 16, 40])))

    def blob(self):
        return bytes(self.random.randrange(256) for _ in range(self.random.choice([0, 1, 2, 9, 130])))

    def scalar(self, field):
        kind = field.type
        if kind in (F.TYPE_INT32, F.TYPE_SINT32, F.TYPE_SFIXED32):
            return self.integer(32, True)
        if kind in (F.TYPE_INT64, F.TYPE_SINT64, F.TYPE_SFIXED64):
            return self.integer(64, True)
        if kind in (F.TYPE_UINT32, F.TYPE_FIXED32):
            return self.integer(32, False)
        if kind in (F.TYPE_UINT64, F.TYPE_FIXED64):
            return self.integer(64, False)
        if field.containing_type.full_name == "google.protobuf.Value" and kind == F.TYPE_DOUBLE:
            return self.random.uniform(-1e9, 1e9)  # JSON has no other numbers
        if kind == F.TYPE_DOUBLE:
            return self.floating(8)
        if kind == F.TYPE_FLOAT:
            return self.floating(4)
        if kind == F.TYPE_BOOL:
            return self.random.random() < 0.5
        if kind == F.TYPE_STRING:
            return self.text()
        if kind == F.TYPE_BYTES:
            return self.blob()
        if field.enum_type.full_name == "google.protobuf.NullValue":
            return 0
        numbers = [value.number for value in field.enum_type.values]
        if field.enum_type.file.syntax == "proto3" and self.random.random() < 0.2:
            return self.integer(32, True)
        return self.random.choice(numbers)

    def fill(self, message, depth):
        name = message.DESCRIPTOR.full_name
        if name == "google.protobuf.Duration":
            sign = self.random.choice([1, -1])
            message.seconds = sign * self.random.randrange(315576000000) >> 0
            message.nanos = sign * self.random.randrange(10**9)
        elif name == "google.protobuf.Timestamp":
            message.seconds = self.random.randrange(-62135596800, 253402300800)
            message.nanos = self.random.randrange(10**9)
        elif name == "google.protobuf.Any":
            inner = message.DESCRIPTOR.file.pool.FindMessageTypeByName("courier.shared.Place")
            place = message_factory.MessageFactory(message.DESCRIPTOR.file.pool).GetPrototype(inner)()
            self.fill(place, depth + 1)
            if depth < 3:
                message.type_url = "type.googleapis.com/courier.shared.Place"
                message.value = place.SerializeToString(deterministic=True)
        elif name == "google.protobuf.FieldMask":
            message.paths.extend(self.random.sample(["a_double", "child.a_string", "places"], self.random.randrange(4)))
        else:
            self.fill_fields(message, depth)

    def fill_fields(self, message, depth):
        fields = list(message.DESCRIPTOR.fields)
        is_value = message.DESCRIPTOR.full_name == "google.protobuf.Value"
        if is_value:  # without its oneof it would say nothing
            is_plain = depth > 4 or "oneof-messages" in self.without
            fields = [self.random.choice(fields[:4] if is_plain else fields)]
        density = self.random.choice([0.05, 0.2, 0.5]) if len(fields) > 8 else 0.8
        for field in fields:
            if field.containing_oneof and field.type == F.TYPE_MESSAGE and "oneof-messages" in self.without:
                continue
            is_needed = is_value or field.label == F.LABEL_REQUIRED
            if not is_needed and self.random.random() > density:
                continue
            if field.label == F.LABEL_REPEATED:
                self.fill_repeated(message, field, depth)
            elif field.type == F.TYPE_MESSAGE:
                if depth < 4 or is_needed or not field.message_type.fields:
                    child = getattr(message, field.name)
                    child.SetInParent()
                    self.fill(child, depth + 1)
            else:
                setattr(message, field.name, self.scalar(field))
        is_ours = not message.DESCRIPTOR.full_name.startswith("google.")
        if is_ours and "unknown" not in self.without and self.random.random() < 0.1:
            unknown = b"".join(
                self.random.choice([b"\x80\x7d\x01", b"\x89\x7d12345678", b"\x92\x7d\x03abc", b"\x9d\x7dabcd"])
                for _ in range(self.random.randint(1, 3)))
            message.MergeFromString(unknown) if message.IsInitialized() else None

    def fill_repeated(self, message, field, depth):
        count = self.random.choice([1, 1, 2, 5]) if depth < 3 else 1
        target = getattr(message, field.name)
        if field.message_type and field.message_type.GetOptions().map_entry:
            key, value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            for _ in range(count):
                name = self.scalar(key)
                if value.type == F.TYPE_MESSAGE:
                    if depth < 8:
                        self.fill(target[name], depth + 1)
                else:
                    target[name] = self.scalar(value)
        elif field.type == F.TYPE_MESSAGE:
            for _ in range(count if depth < 4 else 0):
                self.fill(target.add(), depth + 1)
        else:
            target.extend(self.scalar(field) for _ in range(count))


def main():
    path, name, command, *arguments = sys.argv[1:]
    pool = load(path)
    message_class = class_of(pool, name)
    if command == "random":
        randomly = Randomly(int(arguments[0]), arguments[2:])
        for _ in range(int(arguments[1])):
            message = message_class()
            randomly.fill(message, 0)
            write(canonical(message))
    elif command == "echo":
        for data in read_all():
            message = message_class()
            message.MergeFromString(data)
            settle_maps(message)
            write(canonical(message))
    elif command == "accepts":
        for data in read_all():
            try:
                message = message_class()
                message.ParseFromString(data)
                write(b"1")
            except Exception:
                write(b"0")
    elif command == "json":
        for data in read_all():
            message = message_class()
            message.ParseFromString(data)
            write(json_format.MessageToJson(message, descriptor_pool=pool).encode())
    elif command == "parse-json":
        for data in read_all():
            message = message_class()
            json_format.Parse(data.decode(), message, descriptor_pool=pool)
            write(canonical(message))
    else:
        sys.exit(__doc__)


main()
