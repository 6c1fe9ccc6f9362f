public import CourierCore
public import Foundation

extension MQTTChuckArchive {
    /// The state of an archive: its counts, its current failure, and a file that it replaced.
    public struct Status: Sendable {
        /// A damaged or foreign file that was renamed, so that the archive could create a new file.
        public struct QuarantinedFile: Sendable {
            /// The location of the file after it was renamed.
            public let url: URL

            /// The error that was found in the file.
            public let error: CourierError
        }

        /// The number of rows written since this archive was opened.
        public internal(set) var writtenRows: UInt64 = 0

        /// The number of rows that the logger dropped before they were written to the file. Possible causes are a high
        /// message rate, a full disk, and a clear of the logger. Rows that were dropped before the archive was opened
        /// do not count. Gaps in the row numbers of an imported recording do not count either.
        public internal(set) var missedRows: UInt64 = 0

        /// The reason why no rows can be written now, or `nil` if rows can be written. The archive tries again every
        /// second.
        public internal(set) var failure: CourierError?

        /// The last file that was renamed because it was damaged or not an archive; `nil` if no file was renamed. An
        /// open archive replaces its file only once. Later damage is reported in ``failure``.
        public internal(set) var quarantinedFile: QuarantinedFile?
    }
}
