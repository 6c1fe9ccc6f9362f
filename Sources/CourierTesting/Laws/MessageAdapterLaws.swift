public import CourierCore
public import Foundation
import Synchronization

/// Checks the contract of `MessageAdapter`. An app runs these checks on its own adapter.
///
/// ```swift
/// @Test func `our adapter passes MessageAdapterLaws`() async throws {
///     try await MessageAdapterLaws.check(CSVAdapter(), values: [Row(a: 1), Row(a: -1)], malformed: [Data("\"".utf8)])
/// }
/// ```
public enum MessageAdapterLaws {
    /// One requirement of the contract.
    public enum Law: String, CaseIterable, Sendable {
        /// The content type is a MIME type, and it never changes.
        case namesItsContentType
        /// An encoded value decodes to an equal value, on any topic.
        case roundTrips
        /// Payloads are decoded correctly even if they are slices whose indices do not start at 0.
        case readsSlices
        /// The adapter throws an error for a type that it does not support, so that the client tries the next adapter.
        case refusesForeignTypes
        /// Decoding bytes that are not in the adapter's format throws an error.
        case refusesMalformedPayloads
        /// A decoded value depends only on its payload, not on earlier calls or errors.
        case keepsNoState
        /// Many threads may use the adapter at the same time.
        case worksConcurrently
    }

    /// A type that no adapter supports.
    private struct ForeignValue {}

    /// Checks all laws.
    ///
    /// - Parameters:
    ///   - adapter: The adapter.
    ///   - values: Values that the adapter can encode and decode, at least two different ones. The smallest, largest
    ///     and empty values find the most errors.
    ///   - malformed: Payloads that are not in the adapter's format. Leave this empty, as by default, if the adapter
    ///     accepts all bytes.
    ///   - topic: A topic that the adapter accepts.
    ///   - patience: The real time limit of each law, 2 minutes by default. After this time, the law counts as broken.
    /// - Throws: ``LawViolation`` for the first law that is broken.
    public static func check<Value: Equatable & Sendable>(
        _ adapter: any MessageAdapter, values: [Value], malformed: [Data] = [], topic: String = "laws/adapter",
        patience: Duration = .seconds(120)
    ) async throws {
        let bench = AdapterBench(adapter: adapter, values: values, malformed: malformed, topic: topic)
        for law in Law.allCases {
            try await LawRun.run(law.rawValue, patience: patience) {
                switch law {
                case .namesItsContentType: try bench.namesItsContentType()
                case .roundTrips: try bench.roundTrips()
                case .readsSlices: try bench.readsSlices()
                case .refusesForeignTypes: try bench.refusesForeignTypes(ForeignValue())
                case .refusesMalformedPayloads: try bench.refusesMalformedPayloads()
                case .keepsNoState: try bench.keepsNoState()
                case .worksConcurrently: try await bench.worksConcurrently()
                }
            }
        }
    }
}

/// A group of threads that start their work at the same moment.
private final class AdapterCrew: Sendable {
    private struct State {
        var ended = 0
        var errors: [any Error] = []
    }

    private let size: Int
    private let condition = NSCondition()
    private let started = Atomic(0)
    private let state = Mutex(State())
    private let completion: @Sendable ([any Error]) -> Void

    init(_ size: Int, completion: @escaping @Sendable ([any Error]) -> Void) {
        self.size = size
        self.completion = completion
    }

    /// Returns when all threads have reached this call.
    func awaitAll() {
        condition.lock()
        started.add(1, ordering: .relaxed)
        condition.broadcast()
        while started.load(ordering: .relaxed) < size { condition.wait() }
        condition.unlock()
    }

    /// Records the result of one thread. The last thread calls the completion with the errors of all threads.
    func ended(_ result: Result<Void, any Error>) {
        let errors = state.withLock { state -> [any Error]? in
            state.ended += 1
            if case .failure(let error) = result { state.errors.append(error) }
            return state.ended == size ? state.errors : nil
        }
        if let errors { completion(errors) }
    }
}

/// A tested adapter with its test values.
private struct AdapterBench<Value: Equatable & Sendable>: Sendable {
    let adapter: any MessageAdapter
    let values: [Value]
    let malformed: [Data]
    let topic: String

    private func write(_ value: Value) throws -> Data { try adapter.toMessage(data: value, topic: topic) }
    private func read(_ payload: Data) throws -> Value { try adapter.fromMessage(payload, topic: topic) }

    func namesItsContentType() throws {
        let first = adapter.contentType
        try require("the content type that the second call returned", adapter.contentType, is: first)
        let parts = first.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain = first.prefix { $0 != ";" }.utf8.allSatisfy { (33...126).contains($0) }
        let isMIME = parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
        try require(isMIME && isPlain && first.utf8.count <= 65_535, "\"\(brief(first))\" is not a MIME type")
    }

    func roundTrips() throws {
        try require(
            values.count >= 2 && values.contains { $0 != values[0] }, "the laws need at least two different values")
        for value in values {
            try require("the value that was encoded and decoded", try read(try write(value)), is: value)
            let payload: Data = try adapter.toMessage(data: value, topic: "another/topic")
            let back: Value = try adapter.fromMessage(payload, topic: "a/third/topic")
            try require("the value that was encoded for one topic and decoded for another topic", back, is: value)
        }
    }

    func readsSlices() throws {
        for value in values {
            let payload = try write(value)
            let buffer = Data([0xFF, 0x7B, 0x00]) + payload + Data([0xFF])
            let slice = buffer[(buffer.startIndex + 3)..<(buffer.endIndex - 1)]
            try require("the value that was decoded from the middle of a buffer", try read(slice), is: value)
        }
    }

    func refusesForeignTypes<Foreign>(_ foreign: Foreign) throws {
        let written = Result { try adapter.toMessage(data: foreign, topic: topic) }
        if case .success(let data) = written {
            throw Finding("a value of a foreign type was encoded as \(data.count) bytes")
        }
        for value in values {
            let payload = try write(value)
            let read = Result { () throws -> Foreign in try adapter.fromMessage(payload, topic: topic) }
            if case .success = read { throw Finding("a payload was decoded as a foreign type") }
        }
    }

    func refusesMalformedPayloads() throws {
        for payload in malformed {
            if let value = try? read(payload) {
                throw Finding("\(payload.count) malformed bytes were decoded as \(brief(value))")
            }
        }
    }

    func keepsNoState() throws {
        let payloads = try values.map { try write($0) }
        for round in 0..<3 {
            for index in payloads.indices.reversed() {
                try require("value \(index), decoded in round \(round)", try read(payloads[index]), is: values[index])
                for payload in malformed { _ = try? read(payload) }
                try require("value \(index), decoded after other values", try read(payloads[index]), is: values[index])
            }
            for value in values {
                try require("a value that was encoded a second time", try read(try write(value)), is: value)
            }
        }
    }

    /// Checks the law with its own threads. Unlike Swift tasks, threads run in parallel even if the executor of the
    /// tasks is busy.
    func worksConcurrently() async throws {
        let (threads, rounds) = (8, 250)
        let errors = await withCheckedContinuation { continuation in
            let crew = AdapterCrew(threads) { continuation.resume(returning: $0) }
            for number in 0..<threads {
                Thread.detachNewThread {
                    crew.awaitAll()
                    let result = Result {
                        for round in 0..<rounds {
                            let value = values[(number + round) % values.count]
                            try require(
                                "the value that a thread encoded and decoded", try read(try write(value)), is: value)
                        }
                    }
                    crew.ended(result)
                }
            }
        }
        if let error = errors.first { throw error }
    }
}
