import CourierCore
import Foundation
import FuzzSupport

@testable import CourierMQTT

/// Feeds one input to the reader of property lists, of keep-alive memories, or of server references.
///
/// A value that was read must be written and read as an equal value. A memory has at most its number of networks. A
/// server reference has a host that other code cannot read differently.
func check(_ input: InputReader) {
    var input = input
    switch input.byte() % 4 {
    case 0, 1: checkPlist(Data(input.rest))
    case 2: checkMemory(Data(input.rest))
    default: checkReferences(input.text())
    }
}

/// A value with every kind of content.
private struct Value: Codable, Equatable {
    var a: [Value]?
    var b: [String: Value]?
    var s: String?
    var d: Data?
    var n: Int?
    var t: Date?
}

private func checkPlist(_ payload: Data) {
    let adapter = PlistMessageAdapter()
    guard let value: Value = try? adapter.fromMessage(payload, topic: "a") else { return }
    guard let written = try? adapter.toMessage(data: value, topic: "a"),
        let again: Value = try? adapter.fromMessage(Plant.isPlanted ? written.dropLast() : written, topic: "a")
    else { fatalError("broken property: a value that was read is written and read") }
    // NaN is a date that is not equal to itself.
    demand(again == value || "\(again)" == "\(value)", "a value that was written is read as the same value")
}

private func checkMemory(_ data: Data) {
    guard let memory = try? JSONDecoder().decode(KeepAliveMemory.self, from: data) else { return }
    demand(memory.findings.count <= KeepAliveMemory.limit, "the number of networks is limited")
    demand(Set(memory.findings.map(\.network)).count == memory.findings.count, "each network has one finding")
    guard let written = try? JSONEncoder().encode(memory) else { return }
    demand((try? JSONDecoder().decode(KeepAliveMemory.self, from: written)) != nil, "a written memory is read")
}

private func checkReferences(_ text: String) {
    let list = ServerReference.list(text)
    demand(list.count <= ServerReference.listLimit, "the number of references is limited")
    demand(ServerReference(firstOf: text) == list.first, "the first reference is the first of the list")
    for reference in list {
        demand(
            reference.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/\\?#@\"<>".utf8.contains($0) },
            "a host has only characters of hosts: \(reference)")
        demand(reference.port != 0, "a port is not 0")
    }
}
