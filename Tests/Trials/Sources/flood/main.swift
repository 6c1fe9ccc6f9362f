import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import TrialSupport

// flood [<name>] | --self-test | --client <name> <port>

/// How long the memory of a flooded process has to stay as it is until it has had everything.
let calmTime = Duration.milliseconds(1_500)

/// How long a flood may take to begin.
let startTime = Duration.seconds(15)

/// Growth that takes samples to come about, and no flood.
let noise = 64 << 10

/// How much the memory of this process grows while it is flooded: the highest figure until it grows no more.
func growth(of flood: Flood, port: UInt16) async throws -> Int {
    let client = FloodedClient(port: port, keepsUnread: flood.keepsUnread)
    let before = ProcessMemory.residentBytes(of: "self")
    Task { try await flood.fill(client) }
    let start = ContinuousClock.now
    var (highest, lastGrowth) = (before, start)
    func hasBegun() -> Bool { highest - before > flood.limit / 4 || .now - start > startTime }
    while !hasBegun() || .now - lastGrowth < calmTime {
        try await Task.sleep(for: .milliseconds(20))
        let now = ProcessMemory.residentBytes(of: "self")
        guard now > highest + noise else { continue }
        (highest, lastGrowth) = (now, .now)
    }
    return highest - before
}

/// Runs the client of a flood in a process of its own, and returns what is wrong with its memory, if anything.
func run(_ flood: Flood) async throws -> String? {
    var buffer = PacketBuffer()
    for message in flood.messages() {
        try PacketEncoder(version: .v5, sender: .server).encode(.publish(message), into: &buffer)
    }
    let bytes = buffer.withBytes { $0.withUnsafeBytes { [UInt8]($0) } }
    var steps: [ScriptStep] = [.accept(), .serve(until: .publish(to: "begin"))]
    for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
        steps.append(.sendBytes(Array(bytes[start..<min(start + (1 << 20), bytes.count)])))
    }
    let script = ConnectionScript.connection(steps)
    let broker = try ScriptedBroker.start([script], packetLimit: .max)
    let said = try ChildProcess.run([CommandLine.arguments[0], "--client", flood.name, "\(broker.port)"])
    await broker.shutdown()
    guard let growth = Int(String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) else {
        return "the client said: \(String(decoding: said, as: UTF8.self))"
    }
    print(
        "flood: \(flood.name): \(growth >> 10) KiB for a limit of \(flood.limit >> 10) KiB and "
            + "\(flood.beside >> 10) KiB beside it")
    if growth > flood.allowedGrowth { return "\(growth >> 10) KiB, and \(flood.allowedGrowth >> 10) KiB are allowed" }
    // One that fills no place proves nothing.
    if growth < flood.limit / 2 { return "\(growth >> 10) KiB, which is less than half of the limit" }
    return nil
}

/// Whether every place keeps to its limit.
func runAll(_ floods: [Flood]) async throws -> Bool {
    var problems = 0
    for flood in floods {
        guard let problem = try await run(flood) else { continue }
        problems += 1
        print("flood: \(flood.name): \(problem)")
    }
    print(problems == 0 ? "flood: all limits hold" : "flood: \(problems) limits do not hold")
    return problems == 0
}

/// Whether a client that takes four times what it should is found.
func testItself() async throws -> Bool {
    guard var flood = Flood.all.first else { return false }
    (flood.limit, flood.beside) = (flood.limit / 4, flood.beside / 4)
    guard let problem = try await run(flood) else {
        print("flood: four times the memory were not found")
        return false
    }
    print("flood: four times the memory were found: \(problem)")
    return true
}

let words = Array(CommandLine.arguments.dropFirst())
if words.count == 3, words[0] == "--client", let port = UInt16(words[2]),
    let flood = Flood.all.first(where: { $0.name == words[1] })
{
    print(try await growth(of: flood, port: port))
    exit(0)
}
if words == ["--self-test"] { exit(try await testItself() ? 0 : 1) }
let chosen = Flood.all.filter { words.isEmpty || words.contains($0.name) }
exit(try await runAll(chosen) && !chosen.isEmpty ? 0 : 1)
