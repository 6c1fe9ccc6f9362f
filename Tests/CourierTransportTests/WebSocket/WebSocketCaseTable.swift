@testable import CourierTransport

extension WebSocketCase {
    /// All cases, in the order of cases.md.
    static let all: [WebSocketCase] =
        framing + pings + reserved + fragments + text + closing + statuses + masks + limits + packets

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    }

    // MARK: Framing

    private static let framing: [WebSocketCase] =
        [0, 1, 125, 126, 127, 128, 65_535, 65_536].map { count in
            WebSocketCase(
                "Framing", "a message of \(count) bytes", RawFrame.binary(bytes(count)), delivers: bytes(count))
        } + [
            WebSocketCase(
                "Framing", "a length of 125 in two more bytes",
                RawFrame(lengthSize: 2, payload: bytes(125)).bytes, .refused(1002)),
            WebSocketCase(
                "Framing", "a length of 125 in eight more bytes",
                RawFrame(lengthSize: 8, payload: bytes(125)).bytes, .refused(1002)),
            WebSocketCase(
                "Framing", "a length of 65535 in eight more bytes",
                RawFrame(lengthSize: 8, payload: bytes(65_535)).bytes, .refused(1002)),
            WebSocketCase(
                "Framing", "a length with its 64th bit set", RawFrame(claimedLength: 1 << 63).bytes, .refused(1002)),
            WebSocketCase(
                "Framing", "the longest length of 63 bits", RawFrame(claimedLength: 1 << 63 - 1).bytes, .refused(1009)),
            WebSocketCase("Framing", "half a header", Array(RawFrame.binary(bytes(200)).prefix(3))),
            WebSocketCase(
                "Framing", "half a payload", Array(RawFrame.binary(bytes(100)).prefix(52)), delivers: bytes(50)),
            WebSocketCase(
                "Framing", "three messages", RawFrame.binary([1, 2]) + RawFrame.binary([]) + RawFrame.binary([3]),
                delivers: [1, 2, 3]),
        ]

    // MARK: Ping and Pong

    private static let pings: [WebSocketCase] = [
        WebSocketCase("Ping and Pong", "a Ping without payload", RawFrame.ping(), pongs: [[]]),
        WebSocketCase("Ping and Pong", "a Ping of 1 byte", RawFrame.ping([0xFF]), pongs: [[0xFF]]),
        WebSocketCase("Ping and Pong", "a Ping of 125 bytes", RawFrame.ping(bytes(125)), pongs: [bytes(125)]),
        WebSocketCase("Ping and Pong", "a Ping of 126 bytes", RawFrame.ping(bytes(126)), .refused(1002)),
        WebSocketCase(
            "Ping and Pong", "ten Pings", (0..<10).flatMap { RawFrame.ping([$0]) }, pongs: (0..<10).map { [$0] }),
        WebSocketCase("Ping and Pong", "a Pong nobody asked for", RawFrame.pong()),
        WebSocketCase("Ping and Pong", "a Pong of 125 bytes", RawFrame.pong(bytes(125))),
        WebSocketCase("Ping and Pong", "a Pong of 126 bytes", RawFrame.pong(bytes(126)), .refused(1002)),
        WebSocketCase(
            "Ping and Pong", "Pongs, then a Ping", RawFrame.pong([1]) + RawFrame.pong([2]) + RawFrame.ping([3]),
            pongs: [[3]]),
        WebSocketCase(
            "Ping and Pong", "a fragmented Ping", RawFrame(isFinal: false, opcode: 0x9).bytes, .refused(1002)),
        WebSocketCase(
            "Ping and Pong", "a fragmented Pong", RawFrame(isFinal: false, opcode: 0xA).bytes, .refused(1002)),
        WebSocketCase(
            "Ping and Pong", "a Ping with its length in two more bytes",
            RawFrame(opcode: 0x9, lengthSize: 2, payload: [1]).bytes, .refused(1002)),
    ]

    // MARK: Reserved bits and kinds

    private static let reserved: [WebSocketCase] =
        (1...7).map { bits in
            WebSocketCase(
                "Reserved bits and kinds", "reserved bits \(String(bits, radix: 2)) in a message",
                RawFrame(reserved: UInt8(bits), payload: [1]).bytes, .refused(1002))
        } + [
            WebSocketCase(
                "Reserved bits and kinds", "a reserved bit in a Ping",
                RawFrame(reserved: 4, opcode: 0x9).bytes, .refused(1002)),
            WebSocketCase(
                "Reserved bits and kinds", "a reserved bit in a Close",
                RawFrame(reserved: 1, opcode: 0x8).bytes, .refused(1002)),
            WebSocketCase(
                "Reserved bits and kinds", "a reserved bit after a good message",
                RawFrame.binary([1]) + RawFrame(reserved: 2, payload: [2]).bytes, delivers: [1], .refused(1002)),
        ]
        + [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map { opcode in
            WebSocketCase(
                "Reserved bits and kinds", "a frame of the kind \(opcode)",
                RawFrame(opcode: UInt8(opcode)).bytes, .refused(1002))
        } + [
            WebSocketCase(
                "Reserved bits and kinds", "a frame of the kind 3 inside a message",
                RawFrame.binary([1], isFinal: false) + RawFrame(opcode: 3).bytes, delivers: [1], .refused(1002))
        ]

    // MARK: Fragments

    private static let fragments: [WebSocketCase] = [
        WebSocketCase(
            "Fragments", "a message in two",
            RawFrame.binary([1, 2], isFinal: false) + RawFrame.continuation([3], isFinal: true), delivers: [1, 2, 3]),
        WebSocketCase(
            "Fragments", "a message in a thousand",
            RawFrame.binary([0], isFinal: false)
                + (1..<999).flatMap { RawFrame.continuation([UInt8(truncatingIfNeeded: $0)], isFinal: false) }
                + RawFrame.continuation([9], isFinal: true),
            delivers: (0..<999).map { UInt8(truncatingIfNeeded: $0) } + [9]),
        WebSocketCase(
            "Fragments", "fragments without payload",
            RawFrame.binary([], isFinal: false) + RawFrame.continuation([], isFinal: false)
                + RawFrame.continuation([1], isFinal: false) + RawFrame.continuation([], isFinal: true)
                + RawFrame.binary([2]),
            delivers: [1, 2]),
        WebSocketCase(
            "Fragments", "a Ping between two",
            RawFrame.binary([1], isFinal: false) + RawFrame.ping([7]) + RawFrame.continuation([2], isFinal: true),
            delivers: [1, 2], pongs: [[7]]),
        WebSocketCase(
            "Fragments", "a Pong between two",
            RawFrame.binary([1], isFinal: false) + RawFrame.pong([7]) + RawFrame.continuation([2], isFinal: true),
            delivers: [1, 2]),
        WebSocketCase(
            "Fragments", "a Close between two",
            RawFrame.binary([1], isFinal: false) + RawFrame.close(1000) + RawFrame.continuation([2], isFinal: true),
            delivers: [1], .closed(1000)),
        WebSocketCase(
            "Fragments", "a last fragment of nothing", RawFrame.continuation([1], isFinal: true), .refused(1002)),
        WebSocketCase(
            "Fragments", "a middle fragment of nothing", RawFrame.continuation([1], isFinal: false), .refused(1002)),
        WebSocketCase(
            "Fragments", "a fragment behind a whole message",
            RawFrame.binary([1]) + RawFrame.continuation([2], isFinal: true), delivers: [1], .refused(1002)),
        WebSocketCase(
            "Fragments", "a message inside another", RawFrame.binary([1], isFinal: false) + RawFrame.binary([2]),
            delivers: [1], .refused(1002)),
        WebSocketCase(
            "Fragments", "a text inside a message", RawFrame.binary([1], isFinal: false) + RawFrame.text("a"),
            delivers: [1], .refused(1002)),
        WebSocketCase(
            "Fragments", "a message that does not end", RawFrame.binary([1], isFinal: false), delivers: [1]),
        WebSocketCase(
            "Fragments", "a fragmented Close", RawFrame(isFinal: false, opcode: 0x8).bytes, .refused(1002)),
    ]

    // MARK: Text

    /// Names and bytes of texts that are not valid UTF-8.
    private static let notUTF8: [(String, [UInt8])] = [
        ("a lone continuation byte", [0x80]), ("a lone last continuation byte", [0xBF]),
        ("two continuation bytes", [0x80, 0xBF]), ("the byte FE", [0xFE]), ("the byte FF", [0xFF]),
        ("a slash in two bytes", [0xC0, 0xAF]), ("a slash in three bytes", [0xE0, 0x80, 0xAF]),
        ("a slash in four bytes", [0xF0, 0x80, 0x80, 0xAF]), ("U+0000 in two bytes", [0xC0, 0x80]),
        ("U+007F in two bytes", [0xC1, 0xBF]), ("U+07FF in three bytes", [0xE0, 0x9F, 0xBF]),
        ("U+FFFF in four bytes", [0xF0, 0x8F, 0xBF, 0xBF]), ("the surrogate U+D800", [0xED, 0xA0, 0x80]),
        ("the surrogate U+DFFF", [0xED, 0xBF, 0xBF]), ("a pair of surrogates", [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80]),
        ("U+110000", [0xF4, 0x90, 0x80, 0x80]), ("a character of five bytes", [0xF8, 0x88, 0x80, 0x80, 0x80]),
        ("a character of six bytes", [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]),
        ("a cut character of two bytes", [0xC3]), ("a cut character of three bytes", [0xE2, 0x82]),
        ("a cut character of four bytes", [0xF0, 0x9F, 0x98]), ("a letter inside a character", [0xE2, 0x28, 0xA1]),
        ("Greek, then a surrogate", [0xCE, 0xBA, 0xED, 0xA0, 0x80, 0x65]),
    ]

    private static let text: [WebSocketCase] =
        [
            WebSocketCase("Text", "an empty text", RawFrame.text(""), .refused(1003)),
            WebSocketCase("Text", "an ASCII text", RawFrame.text("Hello-µ@ßöäüàá-UTF-8!!"), .refused(1003)),
            WebSocketCase("Text", "U+10FFFF", RawFrame.text([0xF4, 0x8F, 0xBF, 0xBF]), .refused(1003)),
            WebSocketCase("Text", "the noncharacter U+FFFE", RawFrame.text([0xEF, 0xBF, 0xBE]), .refused(1003)),
            WebSocketCase(
                "Text", "a character over two fragments",
                RawFrame.text([0xE2, 0x82], isFinal: false) + RawFrame.continuation([0xAC], isFinal: true),
                .refused(1003)),
            WebSocketCase(
                "Text", "a broken character over two fragments",
                RawFrame.text([0xE2, 0x82], isFinal: false) + RawFrame.continuation([0x28], isFinal: true),
                .refused(1007)),
            WebSocketCase(
                "Text", "a fault in the first of two fragments", RawFrame.text([0x61, 0xFF], isFinal: false),
                .refused(1007)),
            WebSocketCase("Text", "a text that does not end", RawFrame.text(Array("abc".utf8), isFinal: false)),
            WebSocketCase(
                "Text", "a Ping inside a text",
                RawFrame.text([0x61], isFinal: false) + RawFrame.ping() + RawFrame.continuation([], isFinal: true),
                pongs: [[]], .refused(1003)),
            WebSocketCase(
                "Text", "a text that claims 65537 bytes", RawFrame(opcode: 1, claimedLength: 65_537).bytes,
                .refused(1003)),
            WebSocketCase(
                "Text", "a text behind a message", RawFrame.binary([1]) + RawFrame.text("a"), delivers: [1],
                .refused(1003)),
        ] + notUTF8.map { WebSocketCase("Text", $0.0, RawFrame.text($0.1), .refused(1007)) }

    // MARK: Closing

    private static let closing: [WebSocketCase] =
        [
            WebSocketCase("Closing", "without a status", RawFrame.close(), .closed(nil)),
            WebSocketCase("Closing", "with a status", RawFrame.close(1000), .closed(1000)),
            WebSocketCase("Closing", "with a reason", RawFrame.close(1000, Array("Hello World!".utf8)), .closed(1000)),
            WebSocketCase(
                "Closing", "with the longest reason", RawFrame.close(1000, [UInt8](repeating: 0x2A, count: 123)),
                .closed(1000)),
            WebSocketCase(
                "Closing", "with a reason too long", RawFrame.close(1000, [UInt8](repeating: 0x2A, count: 124)),
                .refused(1002)),
            WebSocketCase("Closing", "with half a status", RawFrame(opcode: 0x8, payload: [3]).bytes, .refused(1002)),
            WebSocketCase(
                "Closing", "a message behind it", RawFrame.close(1000) + RawFrame.binary([1]), .closed(1000)),
            WebSocketCase("Closing", "a Ping behind it", RawFrame.close(1000) + RawFrame.ping(), .closed(1000)),
            WebSocketCase("Closing", "twice", RawFrame.close(1000) + RawFrame.close(1001), .closed(1000)),
            WebSocketCase("Closing", "nonsense behind it", RawFrame.close(1000) + [0xFF, 0xFF, 0xFF], .closed(1000)),
            WebSocketCase(
                "Closing", "behind a message", RawFrame.binary([1]) + RawFrame.close(1001), delivers: [1], .closed(1001)
            ),
            WebSocketCase(
                "Closing", "behind a Ping", RawFrame.ping([5]) + RawFrame.close(), pongs: [[5]], .closed(nil)),
        ]
        + notUTF8.map {
            WebSocketCase("Closing", "with the reason \($0.0)", RawFrame.close(1000, $0.1), .refused(1007))
        }

    private static let statuses: [WebSocketCase] =
        [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999].map {
            (status: Int) in
            WebSocketCase("Statuses", "\(status)", RawFrame.close(status), .closed(status))
        }
        + [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map { (status: Int) in
            WebSocketCase("Statuses", "\(status)", RawFrame.close(status), .refused(1002))
        }

    // MARK: Masks

    private static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    private static let masks: [WebSocketCase] = [
        WebSocketCase(
            "Masks", "a masked message of a server", RawFrame(mask: key, payload: [1]).bytes, .refused(1002)),
        WebSocketCase("Masks", "a masked Ping of a server", RawFrame(opcode: 0x9, mask: key).bytes, .refused(1002)),
        WebSocketCase(
            "Masks", "a masked message of a client", RawFrame(mask: key, payload: bytes(300)).bytes,
            delivers: bytes(300), role: .server),
        WebSocketCase(
            "Masks", "a message of a client that is masked with zeros",
            RawFrame(mask: [0, 0, 0, 0], payload: bytes(300)).bytes, delivers: bytes(300), role: .server),
        WebSocketCase(
            "Masks", "a masked Ping of a client", RawFrame(opcode: 0x9, mask: key, payload: [1, 2, 3, 4, 5]).bytes,
            pongs: [[1, 2, 3, 4, 5]], role: .server),
        WebSocketCase(
            "Masks", "a masked Close of a client", RawFrame(opcode: 0x8, mask: key, payload: [0x03, 0xE8]).bytes,
            .closed(1000), role: .server),
        WebSocketCase(
            "Masks", "a message of a client without a mask", RawFrame.binary([1]), .refused(1002), role: .server),
        WebSocketCase("Masks", "a Close of a client without a mask", RawFrame.close(), .refused(1002), role: .server),
    ]

    // MARK: Limits

    private static let limits: [WebSocketCase] = [
        WebSocketCase(
            "Limits", "a message as long as allowed", RawFrame.binary(bytes(messageLimit)),
            delivers: bytes(messageLimit)),
        WebSocketCase(
            "Limits", "a message that claims a byte more",
            RawFrame(claimedLength: UInt64(messageLimit + 1)).bytes, .refused(1009)),
        WebSocketCase(
            "Limits", "fragments as long as allowed",
            RawFrame.binary(bytes(messageLimit - 1), isFinal: false) + RawFrame.continuation([5], isFinal: true),
            delivers: bytes(messageLimit - 1) + [5]),
        WebSocketCase(
            "Limits", "fragments that together are a byte more",
            RawFrame.binary(bytes(messageLimit), isFinal: false) + RawFrame.continuation([5], isFinal: true),
            delivers: bytes(messageLimit), .refused(1009)),
        WebSocketCase(
            "Limits", "fragments whose lengths overflow",
            RawFrame.binary([1], isFinal: false) + RawFrame(isFinal: true, opcode: 0, claimedLength: 1 << 63 - 1).bytes,
            delivers: [1], .refused(1009)),
        WebSocketCase(
            "Limits", "messages that are together longer than one may be",
            RawFrame.binary(bytes(60_000)) + RawFrame.binary(bytes(60_000)), delivers: bytes(60_000) + bytes(60_000)),
        WebSocketCase(
            "Limits", "Pings whose answers are more than may wait",
            (0..<200).flatMap { RawFrame.ping([UInt8(truncatingIfNeeded: $0)] + bytes(124)) },
            // The answers to 125 Pings fill the limit. The next answer replaces them, so only the last 75 Pings are
            // answered.
            pongs: (125..<200).map { [UInt8(truncatingIfNeeded: $0)] + bytes(124) }),
    ]

    // MARK: Packets of MQTT

    private static let pingResponse: [UInt8] = [0xD0, 0x00]
    private static let publish: [UInt8] = [0x30, 0x07, 0x00, 0x03, 0x61, 0x2F, 0x62, 0x68, 0x69]

    private static let packets: [WebSocketCase] = [
        WebSocketCase(
            "Packets of MQTT", "three in a frame", RawFrame.binary(publish + pingResponse + publish),
            delivers: publish + pingResponse + publish),
        WebSocketCase(
            "Packets of MQTT", "one over two messages",
            RawFrame.binary(Array(publish.prefix(4))) + RawFrame.binary(Array(publish.dropFirst(4))), delivers: publish),
        WebSocketCase(
            "Packets of MQTT", "one over three fragments, with a Ping between",
            RawFrame.binary(Array(publish.prefix(1)), isFinal: false)
                + RawFrame.continuation(Array(publish[1..<5]), isFinal: false) + RawFrame.ping([1])
                + RawFrame.continuation(Array(publish[5...]), isFinal: true),
            delivers: publish, pongs: [[1]]),
        WebSocketCase(
            "Packets of MQTT", "each byte in a frame of its own", publish.flatMap { RawFrame.binary([$0]) },
            delivers: publish),
        WebSocketCase(
            "Packets of MQTT", "the end of one and the beginning of the next in a frame",
            RawFrame.binary(Array(publish.prefix(6)))
                + RawFrame.binary(Array(publish.dropFirst(6)) + pingResponse.prefix(1))
                + RawFrame.binary([0x00]),
            delivers: publish + pingResponse),
    ]
}
