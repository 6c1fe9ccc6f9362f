import CourierCore
import CourierMQTT
import CourierSQLite
import Foundation

/// The kind of store that the worker uses.
enum StoreKind: String, Sendable {
    /// On disk, written to the operating system: it survives the process.
    case normal
    /// On disk, synchronized: it survives a power failure.
    case full
    /// In memory: all messages are lost when the process ends. For the self-test.
    case memory
    /// On disk, but without the progress of accepted messages. For the self-test.
    case forgetful
    /// On disk, but without a result for new messages, so none is accepted. For the self-test.
    case mute
    /// On disk, but without new jobs. For the self-test.
    case jobless
    /// On disk, but jobs of handled messages are not removed. For the self-test.
    case repeating

    /// Opens the store in a folder. `logBytes` limits the size of its write-ahead log.
    func open(in folder: String, logBytes: Int) throws -> any MessageStore {
        let file = Self.file(in: folder)
        let limits = SQLiteMessageStore.Limits(logBytes: logBytes)
        return switch self {
        case .normal: try SQLiteMessageStore(at: file, durability: .normal, limits: limits)
        case .full: try SQLiteMessageStore(at: file, durability: .full, limits: limits)
        case .memory: MemoryMessageStore()
        case .forgetful: BrokenStore(try SQLiteMessageStore(at: file, limits: limits), .forgetsProgress)
        case .mute: BrokenStore(try SQLiteMessageStore(at: file, limits: limits), .ignoresNewMessages)
        case .jobless: BrokenStore(try SQLiteMessageStore(at: file, limits: limits), .forgetsJobs)
        case .repeating: BrokenStore(try SQLiteMessageStore(at: file, limits: limits), .keepsHandledJobs)
        }
    }

    static func file(in folder: String) -> URL {
        URL(fileURLWithPath: folder).appendingPathComponent("messages.courier")
    }
}
