import BenchmarkHarness
import CProtobufPeer
import CourierProtobuf
import Foundation

// Measures the time to encode and decode a small message (six fields) and a large one (1,000 small ones). It compares
// Courier with libprotobuf-c and the C structs of protoc-c, and with the same values as JSON. It fails if Courier needs
// more than three times the time of the C structs for the large message.
//
//     swift build -c release --package-path Benchmarks --product ProtobufBenchmark &&
//     Benchmarks/.build/release/ProtobufBenchmark
//
// It does not use BenchmarkKit, because its counter of heap blocks would slow down the C structs most.

struct JSONReading: Codable {
    var id: Int64, sensor: String, value: Double, quality: Int32, isValid: Bool, unit: String
}

struct JSONReadings: Codable { var readings: [JSONReading] }

/// Returns the time of one round for each candidate, in nanoseconds: the median of 15 samples. The candidates take
/// turns.
func measure(_ rounds: Int, _ candidates: [(Int) throws -> Void]) throws -> [Double] {
    var times = [[Double]](repeating: [], count: candidates.count)
    for candidate in candidates { try candidate(rounds / 10 + 1) }
    for _ in 0..<15 {
        for (index, candidate) in candidates.enumerated() {
            let elapsed = try ContinuousClock().measure { try candidate(rounds) }
            times[index].append(
                Double(elapsed.components.attoseconds) / 1e9 / Double(rounds)
                    + Double(elapsed.components.seconds) * 1e9 / Double(rounds))
        }
    }
    return times.map { $0.sorted()[$0.count / 2] }
}

/// Prevents the optimizer from removing the work that computed `value`.
@inline(never) func keep<Value>(_ value: Value) {}

func reading(_ index: Int) -> Reading {
    var reading = Reading()
    reading.id = 1_700_000_000_000 + Int64(index)
    reading.sensor = "greenhouse/\(index % 40)/temperature"
    reading.value = 20 + Double(index) / 100
    reading.quality = Int32(index % 100)
    reading.isValid = index % 7 != 0
    reading.unit = "celsius"
    return reading
}

let large = Readings(readings: (0..<1_000).map(reading))
let small = large.readings[0]
let jsonLarge = JSONReadings(
    readings: large.readings.map {
        JSONReading(
            id: $0.id, sensor: $0.sensor, value: $0.value, quality: $0.quality, isValid: $0.isValid, unit: $0.unit)
    })
let jsonSmall = jsonLarge.readings[0]
let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
let (smallBytes, largeBytes) = (try small.protobufData(), try large.protobufData())
let (smallJSON, largeJSON) = (try encoder.encode(jsonSmall), try encoder.encode(jsonLarge))
let (smallArray, largeArray) = (Array(smallBytes), Array(largeBytes))
guard let peer = protobuf_peer_make(largeArray, largeArray.count), try Readings(protobufData: largeBytes) == large,
    protobuf_peer_encode(peer) == largeBytes.count
else {
    print("The peer does not read what Courier writes, so their speeds can not be compared.")
    exit(1)
}

struct Row {
    let name: String
    let rounds: Int
    var isLarge = false
    /// The operations with libprotobuf-c, Courier and JSON, in this order. JSON runs only a tenth of the rounds.
    let candidates: [(Int) throws -> Void]
}

let rows = [
    Row(
        name: "encode small", rounds: 50_000,
        candidates: [
            { for _ in 0..<$0 { keep(protobuf_peer_encode_one(peer)) } },
            { for _ in 0..<$0 { keep(try small.protobufData()) } },
            { for _ in 0..<$0 / 10 { keep(try encoder.encode(jsonSmall)) } },
        ]),
    Row(
        name: "decode small", rounds: 50_000,
        candidates: [
            { for _ in 0..<$0 { keep(protobuf_peer_decode_one(smallArray, smallArray.count)) } },
            { for _ in 0..<$0 { keep(try Reading(protobufData: smallBytes)) } },
            { for _ in 0..<$0 / 10 { keep(try decoder.decode(JSONReading.self, from: smallJSON)) } },
        ]),
    Row(
        name: "encode large", rounds: 100, isLarge: true,
        candidates: [
            { for _ in 0..<$0 { keep(protobuf_peer_encode(peer)) } },
            { for _ in 0..<$0 { keep(try large.protobufData()) } },
            { for _ in 0..<$0 / 10 { keep(try encoder.encode(jsonLarge)) } },
        ]),
    Row(
        name: "decode large", rounds: 100, isLarge: true,
        candidates: [
            { for _ in 0..<$0 { keep(protobuf_peer_decode(largeArray, largeArray.count)) } },
            { for _ in 0..<$0 { keep(try Readings(protobufData: largeBytes)) } },
            { for _ in 0..<$0 / 10 { keep(try decoder.decode(JSONReadings.self, from: largeJSON)) } },
        ]),
]

func column(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

print(
    "small: \(smallBytes.count) bytes, \(smallJSON.count) as JSON; large: \(largeBytes.count), \(largeJSON.count) as JSON"
)
print(column("ns", 14), column("C structs", 10), column("Courier", 10), column("JSON", 10), column("Courier/C", 10))
var verdict = Verdict()
for row in rows {
    var times = try measure(row.rounds, row.candidates)
    times[2] *= 10  // JSON runs a tenth of the rounds.
    let ratio = times[1] / times[0]
    verdict.require(
        !row.isLarge || ratio <= 3,
        "\(row.name): \(String(format: "%.2f", ratio)) times the time of the C structs is above 3")
    print(
        column(row.name, 14), column(String(Int(times[0])), 10), column(String(Int(times[1])), 10),
        column(String(Int(times[2])), 10), column(String(format: "%.2f", ratio), 10))
}
exit(verdict.report())
