public import CourierCore
public import Foundation

extension MQTTChuckArchive {
    /// How an archive stands.
    public struct Status: Sendable {
        /// A file that was in the way.
        public struct QuarantinedFile: Sendable {
            /// Where it is now.
            public let url: URL

            /// What was wrong with it.
            public let error: CourierError
        }

        /// How many rows were written since the archive was made.
        public internal(set) var writtenRows: UInt64 = 0

        /// How many rows left the logger before they were written, because they came too fast, the disk was full, or
        /// the logger was cleared. Those that were gone when the archive was made do not count, nor do gaps between the
        /// numbers of an imported recording.
        public internal(set) var missedRows: UInt64 = 0

        /// Why nothing can be written at present; it is tried again every second.
        public internal(set) var failure: CourierError?

        /// The last file that was no archive or damaged, and was set aside for a new one. While an archive is open that
        /// happens once; a second time ``failure`` says so.
        public internal(set) var quarantinedFile: QuarantinedFile?
    }
}
