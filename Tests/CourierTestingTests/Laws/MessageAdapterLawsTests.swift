import CourierCore
import CourierTesting
import Foundation
import Synchronization
import Testing

@Suite struct `Laws of a message adapter` {
    private static let values = [0, 1, -1, Int.max, Int.min]
    private static let malformed = [Data(), Data("1x".utf8), Data([0xFF])]

    @Test func `a correct message adapter passes all checks of MessageAdapterLaws`() async throws {
        try await MessageAdapterLaws.check(DecimalAdapter(), values: Self.values, malformed: Self.malformed)
    }

    @Test(arguments: DecimalAdapter.Fault.allCases)
    func `for each faulty message adapter, MessageAdapterLaws reports a violation of the expected law`(
        fault: DecimalAdapter.Fault
    )
        async throws
    {
        let law: MessageAdapterLaws.Law =
            switch fault {
            case .namesNoType, .changesItsName: .namesItsContentType
            case .losesSign: .roundTrips
            case .readsFromTheFirstIndex: .readsSlices
            case .writesForeignTypes, .readsForeignTypes: .refusesForeignTypes
            case .readsAnything: .refusesMalformedPayloads
            case .remembersFailures: .keepsNoState
            case .sharesItsBuffer: .worksConcurrently
            }
        let violation = await #expect(throws: LawViolation.self) {
            try await MessageAdapterLaws.check(DecimalAdapter(fault), values: Self.values, malformed: Self.malformed)
        }
        #expect(violation?.law == law.rawValue)
    }

    @Test func `MessageAdapterLaws reports a violation if all sample values are equal`() async throws {
        let violation = await #expect(throws: LawViolation.self) {
            try await MessageAdapterLaws.check(DecimalAdapter(), values: [1, 1])
        }
        #expect(violation?.law == MessageAdapterLaws.Law.roundTrips.rawValue)
    }
}

/// An adapter for integers as decimal digits, with an optional fault.
final class DecimalAdapter: MessageAdapter {
    enum Fault: CaseIterable {
        case namesNoType, changesItsName, losesSign, readsFromTheFirstIndex, writesForeignTypes, readsForeignTypes
        case readsAnything, remembersFailures, sharesItsBuffer
    }

    private struct Failure: Error {}

    private struct State {
        var hasFailed = false
        var nameCount = 0
        var writers = 0
        var wasShared = false
    }

    private let fault: Fault?
    private let state = Mutex(State())

    init(_ fault: Fault? = nil) { self.fault = fault }

    var contentType: String {
        switch fault {
        case .namesNoType: return "decimal"
        case .changesItsName:
            let count = state.withLock { state in
                state.nameCount += 1
                return state.nameCount
            }
            return "text/x-decimal-\(count)"
        default: return "text/x-decimal"
        }
    }

    func toMessage<T>(data: T, topic: String) throws -> Data {
        guard let number = data as? Int else {
            if fault == .writesForeignTypes { return Data("0".utf8) }
            throw Failure()
        }
        if fault == .sharesItsBuffer { try writeShared() }
        return Data(String(fault == .losesSign ? Int(number.magnitude >> 1) : number).utf8)
    }

    /// Simulates a shared buffer: throws if two tasks write at the same time. It waits a while for a second task.
    private func writeShared() throws {
        state.withLock { $0.writers += 1 }
        for _ in 0..<500 {
            if state.withLock({ $0.writers > 1 }) { state.withLock { $0.wasShared = true } }
            sched_yield()  // On a busy machine, the other tasks could otherwise run one after the other.
        }
        let wasShared = state.withLock { state in
            state.writers -= 1
            return state.wasShared
        }
        if wasShared { throw Failure() }
    }

    func fromMessage<T>(_ message: Data, topic: String) throws -> T {
        if fault == .readsFromTheFirstIndex, message.startIndex != 0 { throw Failure() }
        if fault == .remembersFailures, state.withLock({ $0.hasFailed }) { throw Failure() }
        // Safe, because a type of size zero has no bytes.
        if fault == .readsForeignTypes, MemoryLayout<T>.size == 0 { return unsafeBitCast((), to: T.self) }
        let text = String(decoding: message, as: UTF8.self)
        guard let number = Int(text) ?? (fault == .readsAnything ? 0 : nil), let value = number as? T else {
            // Remembers only failures for `Int`, so that this fault does not break the law about foreign types.
            if T.self == Int.self { state.withLock { $0.hasFailed = true } }
            throw Failure()
        }
        return value
    }
}
