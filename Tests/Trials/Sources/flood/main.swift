import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import TrialSupport

// Usage: flood [<name>] | --self-test | --client <name> <port>

/// The measurement ends when memory has not grown for this time.
let stableTime = Duration.milliseconds(1_500)

/// The longest time until memory starts to grow.
let startTime = Duration.seconds(15)

/// Growth of fewer bytes is ignored.
let noise = 64 << 10

/// Returns by how many bytes the memory of this process grows during a flood, measured at its peak.
func growth(of flood: Flood, port: UInt16) async throws -> Int {
    let client = FloodedClient(port: port, keepsUnread: flood.keepsUnread)
    let before = ProcessMemory.residentBytes(of: "self")
    Task { try await flood.fill(client) }
    let start = ContinuousClock.now
    var (highest, lastGrowth) = (before, start)
    func hasBegun() -> Bool { highest - before > flood.limit / 4 || .now - start > startTime }
    while !hasBegun() || .now - lastGrowth < stableTime {
        // Memory is polled, because the system does not report changes of a process's memory.
        try await Task.sleep(for: .milliseconds(20))
        let now = ProcessMemory.residentBytes(of: "self")
        guard now > highest + noise else { continue }
        (highest, lastGrowth) = (now, .now)
    }
    return highest - before
}

/// The reason why a flood failed.
enum Problem: CustomStringConvertible {
    case exceedsLimit(growth: Int, allowed: Int)
    case fillsLittle(growth: Int)
    case unexpectedOutput(String)

    var description: String {
        switch self {
        case .exceedsLimit(let growth, let allowed): "\(growth >> 10) KiB, and \(allowed >> 10) KiB are allowed"
        case .fillsLittle(let growth): "\(growth >> 10) KiB, which is less than half of the limit"
        case .unexpectedOutput(let output): "unexpected output of the client: \(output)"
        }
    }
}

/// Runs the client of a flood in its own process. Returns the problem with its memory, or `nil`.
func run(_ flood: Flood) async throws -> Problem? {
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
    let bytesPrinted = try ChildProcess.run([CommandLine.arguments[0], "--client", flood.name, "\(broker.port)"])
    await broker.shutdown()
    let output = String(decoding: bytesPrinted, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard let growth = Int(output) else { return .unexpectedOutput(output) }
    print(
        "flood: \(flood.name): \(growth >> 10) KiB for a limit of \(flood.limit >> 10) KiB and "
            + "\(flood.allowance >> 10) KiB as an allowance")
    if growth > flood.allowedGrowth { return .exceedsLimit(growth: growth, allowed: flood.allowedGrowth) }
    // If memory grew only a little, the flood did not fill its buffer, and the limit was not tested.
    return growth < flood.limit / 2 ? .fillsLittle(growth: growth) : nil
}

/// Returns true if every buffer stays within its limit.
func runAll(_ floods: [Flood]) async throws -> Bool {
    var problems = 0
    for flood in floods {
        guard let problem = try await run(flood) else { continue }
        problems += 1
        print("flood: \(flood.name): \(problem)")
    }
    print(problems == 0 ? "flood: all limits hold" : "flood: \(problems) floods failed")
    return problems == 0
}

/// Returns true if a client that uses four times the limit is reported.
func testItself() async throws -> Bool {
    guard var flood = Flood.all.first else { return false }
    (flood.limit, flood.allowance) = (flood.limit / 4, flood.allowance / 4)
    guard case .exceedsLimit? = try await run(flood) else {
        print("flood: self-test failed: four times the limit was not reported")
        return false
    }
    print("flood: self-test passed: four times the limit was reported")
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
if chosen.isEmpty {
    print("flood: there is no such flood; the names are \(Flood.all.map(\.name).joined(separator: ", "))")
    exit(2)
}
exit(try await runAll(chosen) ? 0 : 1)
