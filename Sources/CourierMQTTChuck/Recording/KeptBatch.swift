import MQTTCodec

/// How large what is kept may be.
struct SlabLimits {
    /// What is kept of one packet; the rest is cut off.
    let packetSize: Int
    /// A batch above this is divided, so that dropping its oldest part gives memory back.
    let slabSize: Int
}

/// How the packets of one batch are kept: as the array that came, or in pieces where something had to be changed.
struct KeptBatch {
    struct Piece {
        var bytes: [UInt8] = []
        var rowCount = 0
        /// The size on the wire of the only packet, where it was cut.
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

    /// Whether all packets so far are kept as they are.
    var isWhole: Bool { !isCopying }

    /// Takes so many further packets of a batch that is whole; none of them is too large.
    @inline(__always)
    mutating func keepAsTheyAre(_ count: Int) { rowCount &+= count }

    /// Takes the next packet, `rewritten` where it must not be kept as it is.
    @inline(__always)
    mutating func keep(_ header: PacketHeader, _ bytes: Span<UInt8>, _ rewritten: [UInt8]?) {
        if isCopying || rewritten != nil || header.size > limits.packetSize { copy(header, bytes, rewritten) }
        rowCount &+= 1
    }

    /// Takes what follows the last packet that could be told apart: its first bytes, which may be a header, and no
    /// others.
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

    /// The pieces in order; the batch itself where nothing had to be changed.
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

    /// What is kept of a packet that is too large. Only of a PUBLISH the beginning means something by itself: others
    /// cannot be read without their end, and so neither be searched for secrets when they come back from a file.
    private static func beginning(of packet: [UInt8], _ size: Int, headerSize: Int) -> [UInt8] {
        let part = Array(packet.prefix(size))
        return PacketType(rawValue: packet[0] >> 4) == .publish ? part : masked(part, behind: headerSize)
    }

    /// The bytes with nothing left but the first so many.
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
