import Foundation

/// Google's Protobuf library for Python, for one message type.
struct Peer {
    let type: String

    enum Feature: String { case unknown, oneofMessages = "oneof-messages" }

    func random(seed: UInt64, count: Int, without: [Feature] = []) throws -> [Data] {
        try ask(["random", "\(seed)", "\(count)"] + without.map(\.rawValue))
    }
    func echo(_ messages: [Data]) throws -> [Data] { try ask(["echo"], messages) }
    func accepts(_ messages: [Data]) throws -> [Bool] { try ask(["accepts"], messages).map { $0 == Data("1".utf8) } }
    func json(_ messages: [Data]) throws -> [String] {
        try ask(["json"], messages).map { String(decoding: $0, as: UTF8.self) }
    }
    func parse(json texts: [String]) throws -> [Data] { try ask(["parse-json"], texts.map { Data($0.utf8) }) }

    private func ask(_ command: [String], _ messages: [Data] = []) throws -> [Data] {
        try Tool.withFolder { folder in
            let set = folder.appending(path: "set")
            try Tool.descriptorSet().write(to: set)
            let script = Tool.tests.appending(path: "Peer/peer.py").path
            let output = try Tool.run(
                "/usr/bin/python3", [script, set.path, type] + command, input: Self.joined(messages))
            return Self.split(output)
        }
    }

    private static func joined(_ messages: [Data]) -> Data {
        messages.reduce(into: Data()) { joined, message in
            withUnsafeBytes(of: UInt32(message.count).littleEndian) { joined.append(contentsOf: $0) }
            joined.append(message)
        }
    }

    private static func split(_ data: Data) -> [Data] {
        var messages: [Data] = []
        var rest = data[...]
        while rest.count >= 4 {
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            messages.append(Data(rest.dropFirst(4).prefix(count)))
            rest = rest.dropFirst(4 + count)
        }
        return messages
    }
}
