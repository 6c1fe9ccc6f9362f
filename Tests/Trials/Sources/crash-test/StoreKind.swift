import CourierCore
import CourierMQTT
import CourierSQLite
import Foundation

/// What the worker keeps its messages in.
enum StoreKind: String, Sendable {
    /// On disk, as the system has it.
    case normal
    /// On disk, as the disk has it.
    case full
    /// In memory: everything is lost with the process. For the self-test.
    case memory
    /// On disk, but without what happened to a message after it was accepted. For the self-test.
    case forgetful
    /// On disk, but without an answer to a message that is to be kept: none is accepted. For the self-test.
    case mute

    /// Opens the store of a folder, with a log of at most this size.
    func open(in folder: String, logBytes: Int) throws -> any MessageStore {
        let file = Self.file(in: folder)
        let limits = SQLiteMessageStore.Limits(logBytes: logBytes)
        return switch self {
        case .normal: try SQLiteMessageStore(at: file, durability: .normal, limits: limits)
        case .full: try SQLiteMessageStore(at: file, durability: .full, limits: limits)
        case .memory: MemoryMessageStore()
        case .forgetful: BrokenStore(try SQLiteMessageStore(at: file, limits: limits), .forgetsProgress)
        case .mute: BrokenStore(try SQLiteMessageStore(at: file, limits: limits), .ignoresNewMessages)
        }
    }

    static func file(in folder: String) -> URL {
        URL(fileURLWithPath: folder).appendingPathComponent("messages.courier")
    }
}
