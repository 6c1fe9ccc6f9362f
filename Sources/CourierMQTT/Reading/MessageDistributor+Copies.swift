import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine

/// Finds the copies of a message that the broker sends for overlapping subscriptions, and passes one copy to each
/// reader.
extension MessageDistributor {
    /// Decides which readers take this copy of a message, and removes the other readers from `lastReaders`. The broker
    /// may send one copy for each matching subscription. `copy` has the identifiers of the subscriptions that this copy
    /// was sent for.
    ///
    /// Returns `true` in two cases, in which no reader needs the copy:
    /// - The message has readers, and all of them take another copy.
    /// - The message has no reader, the client would keep the copy (`isKept`), and another copy arrived before.
    func isSpare(_ copy: [UInt32], _ payload: RawSpan, isKept: Bool) -> Bool {
        guard !copy.isEmpty else { return false }
        finishRun()
        // Look up the readers again for the next copy, because it may have other readers.
        state.pointee.lastIsValid = false
        let readers = state.pointee.lastReaders
        let subscriptions = dependencies.subscriptions()
        var twin: Bool?
        state.pointee.lastReaders.removeAll { id in
            switch subscriptions?.claim(of: state.pointee.readers[id]?.filter ?? nil, on: copy) ?? .first {
            case .taken: return false
            case .left: return true
            case .first:
                let isTwin = twin ?? isTwin(copy, payload)
                twin = isTwin
                return isTwin
            }
        }
        if !readers.isEmpty { return state.pointee.lastReaders.isEmpty }
        guard isKept, (subscriptions?.claim(of: nil, on: copy) ?? .first) == .first else { return false }
        return isTwin(copy, payload)
    }

    func isTwin(_ copy: [UInt32], _ payload: RawSpan) -> Bool {
        var recent = state.pointee.recentCopies ?? RecentCopies()
        state.pointee.recentCopies = nil
        defer { state.pointee.recentCopies = recent }
        return recent.isTwin(state.pointee.lastTopicString, payload, for: copy)
    }

    /// Returns the properties without the subscription identifiers that the client assigned. The identifiers that the
    /// app chose remain.
    func ownProperties(of properties: RawSpan, with identifiers: [UInt32]) -> [UInt8] {
        let chosen = dependencies.subscriptions()?.chosenIdentifiers(of: identifiers) ?? []
        return properties.withUnsafeBytes { bytes in
            receivedPropertyDecoder.publishProperties(in: bytes) { chosen.contains($0) }
        }
    }

    /// Empties `recentCopies`, because the subscriptions have changed. From now on, the broker may send other copies of
    /// a message.
    func subscriptionsChanged() {
        loop.preconditionOnLoop()
        state.pointee.recentCopies = nil
    }
}
