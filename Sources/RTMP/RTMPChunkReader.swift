import MediaKernels

/// Turns the bytes that follow the handshake, in one direction of a connection, into messages.
///
/// Pure: no socket, no clock. The payload is copied once, directly into packet memory. Set Chunk Size and Abort take
/// effect here, between two chunks, and are not delivered.
///
/// Spec: RTMP 1.0 §5.3, §5.4.1, §5.4.2.
///
/// Invariants: (1) `carry` holds an incomplete header, and is empty within a chunk; (2) a chunk stream with
/// `slot >= 0` is the only one that uses the assembler with this index; (3) `current` is the index of such a stream,
/// or -1.
package struct RTMPChunkReader: ~Copyable {
    /// Maximum number of messages in progress at the same time: audio, video, data and commands, twice.
    package static let maximumPartials = 8
    /// Maximum number of bytes reserved in advance for a message: twice the longest message so far, up to this limit.
    /// ``maximumPartials`` times this is what incomplete messages may hold anyway. Without the reservation a growing
    /// message would be moved, and half of it copied again.
    private static let mostReserved = 2 << 20
    /// Upper bound of the bytes that are needed to read a header: 3 + 11 + 4 bytes, and 4 bytes of lookahead.
    private static let longestHeader = 22

    /// Maximum number of payload bytes per received chunk: 128 until the peer changes it (§5.4.1).
    package private(set) var chunkSize = 128
    /// Tolerated deviations of the peer from the specification.
    package private(set) var quirks: RTMPQuirks = []

    private let limits: RTMPLimits
    private var streams: [RTMPChunkStream] = []
    /// Index in `streams` by chunk stream id under 64; -1 for none.
    private var indexOfID = [Int](repeating: -1, count: 64)
    private var partials = InlineArray<8, PacketAssembler?> { _ in nil }
    private var partialBytes = 0
    /// Size of the longest message so far, in bytes; it decides how much memory is reserved for the next message.
    private var longest = 0
    /// Number of Set Chunk Size and Abort messages since the last ``takeApplied()``; they take effect in the reader and
    /// are not delivered.
    private var applied = 0
    private var current = -1
    private var chunkLeft = 0
    private var carry: [UInt8] = []

    package init(limits: RTMPLimits = RTMPLimits()) { self.limits = limits }

    /// Minimum number of bytes that must arrive before another message is complete; 0 if none has begun.
    package var missingBytes: Int {
        if !self.carry.isEmpty { return 1 }
        var least = Int.max
        for stream in self.streams where stream.missing > 0 { least = min(least, stream.missing) }
        return least == .max ? 0 : least
    }

    /// Returns the number of Set Chunk Size and Abort messages since the last call, for rate limits; these messages are
    /// not delivered.
    package mutating func takeApplied() -> Int {
        defer { self.applied = 0 }
        return self.applied
    }

    /// Reads bytes, split at any position, and appends the messages that they complete.
    ///
    /// - Throws: A failure after which the rest of the connection cannot be read. Messages before it have been
    ///   appended.
    package mutating func receive(_ bytes: Span<UInt8>, into messages: inout [RTMPMessage]) throws(RTMPFailure) {
        var position = 0
        if !self.carry.isEmpty {
            // A header was split. It is read from a short copy that joins both parts; surplus bytes of the copy are
            // read again from `bytes`.
            let carried = self.carry.count
            var joined = self.carry
            for index in 0..<min(bytes.count, 2 * RTMPChunkReader.longestHeader) { joined.append(bytes[index]) }
            self.carry.removeAll(keepingCapacity: true)
            var offset = 0
            while offset < carried {
                guard try self.step(joined.span, &offset, &messages) else {
                    self.carry.append(contentsOf: joined[offset...])
                    return
                }
            }
            position = offset - carried
        }
        while position < bytes.count {
            guard try self.step(bytes, &position, &messages) else {
                for index in position..<bytes.count { self.carry.append(bytes[index]) }
                return
            }
        }
    }

    /// Reads one header or a run of payload; returns false if a header is incomplete.
    private mutating func step(
        _ bytes: Span<UInt8>, _ position: inout Int, _ messages: inout [RTMPMessage]
    ) throws(RTMPFailure) -> Bool {
        if self.current >= 0 {
            try self.payload(bytes, &position, &messages)
            return true
        }
        return try self.header(bytes, &position, &messages)
    }

    private mutating func header(
        _ bytes: Span<UInt8>, _ position: inout Int, _ messages: inout [RTMPMessage]
    ) throws(RTMPFailure) -> Bool {
        guard var header = RTMPChunkHeader(bytes, at: position) else { return false }
        let id = header.chunkStreamID
        var index = self.index(of: id)
        if index < 0 {
            // librtmp begins its pings with type 1 on a fresh chunk stream. Types 2 and 3 need an earlier header.
            guard header.format <= 1 else { throw .desync(.headerWithoutPredecessor(chunkStreamID: id)) }
            guard self.streams.count < self.limits.chunkStreams else { throw .limit(.chunkStreams) }
            if header.format == 1 { self.quirks.insert(.deltaOnFreshChunkStream) }
        }
        var stream = index >= 0 ? self.streams[index] : RTMPChunkStream(id: id)

        if header.format == 3 && stream.hasExtended {
            switch self.extendedFollows(stream, bytes, at: position + header.size) {
            case nil: return false
            case .some(true): header.size += 4
            case .some(false): self.quirks.insert(.extendedTimestampOmitted)
            }
        }
        if stream.isMidMessage {
            let continues =
                header.format == 3 || header.format == 2
                || (header.format == 1 && header.length == stream.length && header.type == stream.type)
            guard continues else { throw .desync(.headerInsideMessage(chunkStreamID: id)) }
            position += header.size
            self.current = index
            self.chunkLeft = min(self.chunkSize, stream.missing)
            return true
        }

        RTMPChunkReader.apply(header, to: &stream)
        guard stream.type.isPossible else { throw .desync(.messageType(stream.type.rawValue)) }
        guard stream.length <= self.limits.length(of: stream.type) else { throw .limit(.messageLength) }
        if stream.length > 0 {
            stream.slot = try self.openSlot(stream.length)
            stream.missing = stream.length
        }
        if index < 0 {
            index = self.streams.count
            if id < 64 { self.indexOfID[Int(id)] = index }
            self.streams.append(stream)
        } else {
            self.streams[index] = stream
        }
        position += header.size
        if stream.length == 0 {
            try self.deliver(stream, PacketMemory([]), &messages)
        } else {
            self.current = index
            self.chunkLeft = min(self.chunkSize, stream.length)
        }
        return true
    }

    /// Applies the timestamp rules at the beginning of a message: §5.3.1.2, §5.3.1.3.
    private static func apply(_ header: RTMPChunkHeader, to stream: inout RTMPChunkStream) {
        if header.format <= 2 {
            stream.hasExtended = header.hasExtended
            stream.extended = header.time
        }
        if header.format <= 1 {
            stream.length = header.length
            stream.type = header.type
        }
        switch header.format {
        case 0:
            stream.streamID = header.streamID
            stream.timestamp = header.time
            // §5.3.1.2.4: after a type 0 header, type 3 adds that header's timestamp. A sender that means this would
            // need a gap as long as its whole timeline, so above ten seconds it is taken as "no delta".
            stream.delta = header.time <= 10_000 ? header.time : 0
        case 1, 2:
            stream.delta = header.time
            stream.timestamp &+= header.time
        default:
            stream.timestamp &+= stream.delta
        }
    }

    /// Returns whether an extended timestamp follows a type 3 header at `offset`. Old librtmp omits it, so the four
    /// bytes count only if they are the last extended timestamp or the timestamp of the message; nil if too few bytes
    /// are available to tell.
    private func extendedFollows(_ stream: RTMPChunkStream, _ bytes: Span<UInt8>, at offset: Int) -> Bool? {
        let begun = stream.isMidMessage ? stream.timestamp : stream.timestamp &+ stream.delta
        var value: UInt32 = 0
        for index in 0..<4 {
            guard offset + index < bytes.count else { return nil }
            value = value << 8 | UInt32(bytes[offset + index])
            let shift = UInt32(8 * (3 - index))
            guard value == stream.extended >> shift || value == stream.timestamp >> shift || value == begun >> shift
            else { return false }
        }
        return true
    }

    private mutating func payload(
        _ bytes: Span<UInt8>, _ position: inout Int, _ messages: inout [RTMPMessage]
    ) throws(RTMPFailure) {
        let index = self.current
        let stream = self.streams[index]
        var progress = ChunkProgress(chunkLeft: self.chunkLeft, messageLeft: stream.missing)
        let simple = stream.id < 64 && !stream.hasExtended
        let used = self.partials[stream.slot]?.gather(
            bytes, from: position, progress: &progress, chunkSize: self.chunkSize,
            continuation: simple ? 0xC0 | UInt8(stream.id) : nil)
        position += used ?? 0
        self.chunkLeft = progress.chunkLeft
        self.streams[index].missing = progress.messageLeft
        self.partialBytes += stream.missing - progress.messageLeft
        guard self.partialBytes <= self.limits.partialBytes else { throw .limit(.partialBytes) }
        if progress.messageLeft == 0 {
            self.current = -1
            self.streams[index].slot = -1
            self.partialBytes -= stream.length
            self.longest = max(self.longest, stream.length)
            guard let memory = self.partials[stream.slot].take()?.finish() else { return }
            try self.deliver(stream, memory, &messages)
        } else if progress.chunkLeft == 0 {
            self.current = -1
        }
    }

    private mutating func deliver(
        _ stream: RTMPChunkStream, _ memory: PacketMemory, _ messages: inout [RTMPMessage]
    ) throws(RTMPFailure) {
        if stream.type.isControl && (stream.id != 2 || stream.streamID != 0) { self.quirks.insert(.controlOffStream) }
        switch stream.type {
        case .setChunkSize:
            self.applied += 1
            try self.setChunkSize(memory)
        case .abort:
            self.applied += 1
            self.abort(memory)
        default:
            messages.append(
                RTMPMessage(
                    chunkStreamID: stream.id, type: stream.type, streamID: stream.streamID,
                    timestamp: stream.timestamp, payload: memory))
        }
    }

    private mutating func setChunkSize(_ memory: PacketMemory) throws(RTMPFailure) {
        // Below 128 it only costs us processor time; the highest bit must be zero; a message has at most 16,777,215
        // bytes.
        guard memory.count == 4, let size = memory.unsigned32(at: 0), size >= 128, size <= 0x7FFF_FFFF else {
            throw .protocolViolation(.chunkSize)
        }
        self.chunkSize = min(Int(size), 0xFF_FFFF)
    }

    private mutating func abort(_ memory: PacketMemory) {
        guard let id = memory.unsigned32(at: 0) else { return }
        let index = self.index(of: id)
        guard index >= 0, self.streams[index].isMidMessage else { return }
        self.partials[self.streams[index].slot] = nil
        self.partialBytes -= self.streams[index].length - self.streams[index].missing
        self.streams[index].slot = -1
        self.streams[index].missing = 0
    }

    private func index(of id: UInt32) -> Int {
        if id < 64 { return self.indexOfID[Int(id)] }
        return self.streams.firstIndex { $0.id == id } ?? -1
    }

    private mutating func openSlot(_ length: Int) throws(RTMPFailure) -> Int {
        let most = min(max(1, self.limits.partialMessages), RTMPChunkReader.maximumPartials)
        for slot in 0..<most where self.partials[slot] == nil {
            let reserve = max(PacketAssembler.usualReserve, min(self.longest &* 2, RTMPChunkReader.mostReserved))
            self.partials[slot] = PacketAssembler(expecting: length, reserving: reserve)
            return slot
        }
        throw .limit(.partialMessages)
    }
}
