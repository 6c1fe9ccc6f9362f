import MQTTCodec

/// The size limits for packets and slabs. A slab is an array of bytes that stores the packets of one read or write.
struct SlabLimits {
    /// The maximum number of bytes that are stored of one packet. The rest of the packet is cut off.
    let packetSize: Int
    /// The maximum size of a slab in bytes. A larger batch is divided into several slabs, so that the memory of each
    /// slab can be freed separately when the oldest rows are dropped.
    let slabSize: Int
}

/// The bytes to store of one batch of packets. This is the original array, or several pieces if packets must be changed
/// or the batch must be divided.
struct KeptBatch {
    struct Piece {
        var bytes: [UInt8] = []
        var rowCount = 0
        /// The original size of a packet that was cut, or 0 if no packet was cut. A cut packet is the only packet of
        /// its piece.
        var wholeSize = 0
    }

    private let limits: SlabLimits
    private var isCopying: Bool
    private var finished: [Piece] = []
    private var piece = Piece()
    private var rowCount = 0

    init(_ limits: SlabLimits, byteCount: Int) {
        self.limits = limits
        isCopying = byteCount > limits.slabSize
    }

    /// True if all packets so far are stored unchanged in the original array.
    var isWhole: Bool { !isCopying }

    /// Adds a number of packets that are stored unchanged. None of them is above the size limit.
    @inline(__always)
    mutating func keepAsTheyAre(_ count: Int) { rowCount &+= count }

    /// Adds the next packet. If `rewritten` is not `nil`, it contains the bytes to store instead of the packet's own
    /// bytes.
    @inline(__always)
    mutating func keep(_ header: PacketHeader, _ bytes: Span<UInt8>, _ rewritten: [UInt8]?) {
        if isCopying || rewritten != nil || header.size > limits.packetSize { copy(header, bytes, rewritten) }
        rowCount &+= 1
    }

    /// Adds the bytes after the last valid packet. The first two bytes, which may be a header, remain readable. All
    /// following bytes are masked.
    mutating func keepTail(_ bytes: Span<UInt8>, from offset: Int) {
        beginCopying(bytes, upTo: offset)
        let shown = min(bytes.count - offset, 2)
        let masked = min(bytes.count - offset, limits.packetSize) - shown
        finishPiece()
        piece.bytes =
            Array(bytes.extracting(offset..<offset + shown)) + [UInt8](repeating: Redactor.mask, count: max(0, masked))
        piece.wholeSize = bytes.count - offset
        piece.rowCount = 1
        rowCount += 1
        finishPiece()
    }

    /// Returns the pieces in the sequence of the packets. If nothing was changed, the only piece is the batch itself.
    func pieces(of batch: [UInt8]) -> (first: Piece, others: [Piece]) {
        guard isCopying else { return (Piece(bytes: batch, rowCount: rowCount), []) }
        var all = finished
        if piece.rowCount > 0 { all.append(piece) }
        guard let first = all.first else { return (Piece(), []) }
        return (first, Array(all.dropFirst()))
    }

    private mutating func copy(_ header: PacketHeader, _ bytes: Span<UInt8>, _ rewritten: [UInt8]?) {
        beginCopying(bytes, upTo: header.start)
        let size = rewritten?.count ?? header.size
        if size > limits.packetSize {
            finishPiece()
            let whole = rewritten ?? Array(bytes.extracting(header.start..<header.end))
            piece.bytes = Self.beginning(of: whole, limits.packetSize, headerSize: header.bodyStart - header.start)
            piece.wholeSize = size
            piece.rowCount = 1
            finishPiece()
            return
        }
        if !piece.bytes.isEmpty, piece.bytes.count + size > limits.slabSize { finishPiece() }
        if let rewritten {
            piece.bytes += rewritten
        } else {
            piece.bytes += Array(bytes.extracting(header.start..<header.end))
        }
        piece.rowCount += 1
    }

    /// Returns the part to store of a packet that is too large. Only a PUBLISH can be decoded without its end. A part
    /// of any other packet could not be searched for secrets when it is imported from a file. So the body of such a
    /// packet is masked.
    private static func beginning(of packet: [UInt8], _ size: Int, headerSize: Int) -> [UInt8] {
        let part = Array(packet.prefix(size))
        return PacketType(rawValue: packet[0] >> 4) == .publish ? part : masked(part, behind: headerSize)
    }

    /// Returns the bytes with all but the first `size` bytes masked.
    static func masked(_ bytes: [UInt8], behind size: Int) -> [UInt8] {
        bytes.prefix(size) + [UInt8](repeating: Redactor.mask, count: max(0, bytes.count - size))
    }

    private mutating func beginCopying(_ bytes: Span<UInt8>, upTo offset: Int) {
        guard !isCopying else { return }
        isCopying = true
        piece.bytes = Array(bytes.extracting(0..<offset))
        piece.rowCount = rowCount
    }

    private mutating func finishPiece() {
        if piece.rowCount > 0 { finished.append(piece) }
        piece = Piece()
    }
}
