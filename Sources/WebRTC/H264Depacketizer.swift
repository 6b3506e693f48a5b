import MediaKernels
import MediaTypes

/// Puts together H.264 access units in the packetization modes 0 and 1.
///
/// Parameter sets are left out of the frames if the configuration of their key frame contains them. Access unit
/// delimiters and filler data are left out, too.
///
/// A key frame is an IDR frame or the first frame of an open GOP, whose parameter sets are certain: both kinds arrived
/// since the last loss, or nothing was lost since the last complete frame, since a missing packet could have contained
/// other sets. A sender that announces its sets in the offer and sends none needs no such proof.
///
/// Spec: RFC 6184 §5.6 (single NAL units), §5.7.1 (STAP-A), §5.8 (FU-A). Packet types of the interleaved mode are
/// malformed.
package struct H264Depacketizer: VideoDepacketizer {
    /// Maximum number of NAL units in an access unit. Encoders make at most one slice for each row of macroblocks; 1080p
    /// has 68 rows.
    static let mostUnits = 1024
    /// Maximum number of SPS and PPS in an access unit; each is compared with all known sets.
    static let mostParameterSets = 64

    private static let stapA: UInt8 = 24
    private static let fuA: UInt8 = 28
    private static let leftOut: NALTypes = [.aud, .filler]

    private struct Unit {
        /// Range of the NAL unit in the buffer, without its length.
        let range: Range<Int>
        let type: NALTypes
    }

    private var buffer = FrameBuffer()
    private var units: [Unit] = []
    private var types: NALTypes = []
    /// The fragmented unit that has not ended: offset of its length, and its type.
    private var fragment: (start: Int, type: UInt8)?
    /// Whether packets directly before the access unit are lost.
    private var beginsAfterLoss = false
    /// Whether anything was lost or damaged since the last complete frame.
    private var hasLoss = true
    /// Kinds of parameter sets that arrived since the last loss or damage.
    private var setsSinceLoss: NALTypes = []
    /// Parameter sets since the last key frame.
    private var fresh = AVCParameterSets()
    /// Whether an access unit without a picture has just brought a sequence parameter set.
    private var hasSetsAhead = false
    /// Parameter sets of the last key frame, and their record.
    private var current = AVCParameterSets()
    private var record: [UInt8] = []
    /// Whether there are announced parameter sets, and none has arrived in the stream.
    private var usesAnnouncedSets = false
    private var hasBegun = false

    package init() {}

    /// - Parameter announced: Parameter sets from the offer as NAL units, usually none. If one cannot be read, all are
    ///   ignored.
    package init(announced: [[UInt8]]) {
        for unit in announced where !self.fresh.add(unit) {
            self.fresh = AVCParameterSets()
            break
        }
        self.usesAnnouncedSets = self.fresh.isComplete
    }

    /// - Parameter announced: Value of the format parameter `sprop-parameter-sets` (RFC 6184 §8.1), if there is one.
    ///   Only its first 32 elements are read.
    package init(announced: String?) {
        let parts = (announced ?? "").split(separator: ",").prefix(32)
        self.init(announced: parts.compactMap { Base64.decode(String($0)) })
    }

    package var isReceivingKeyFrame: Bool {
        if self.hasSetsAhead { return true }
        guard self.buffer.isIntact else { return false }
        guard self.types.contains(.idr), self.hasCertainSets else { return self.types.contains(.sps) }
        return self.current.isComplete || self.fresh.isComplete
    }

    /// Whether the parameter sets of a key frame are certain.
    private var hasCertainSets: Bool {
        !self.hasLoss || self.setsSinceLoss == [.sps, .pps] || self.usesAnnouncedSets
    }

    package mutating func receive(_ packet: OrderedPacket, time: Int64, into results: inout [FrameResult]) {
        let isSameFrame = self.buffer.isOpen && self.buffer.timestamp == packet.timestamp
        if packet.isAfterLoss {
            self.noteLoss()
            if isSameFrame {
                self.damage(.lost, &results)
            } else {
                // Packets are lost between two frames: an open frame lacks at least its end.
                self.close()
                if self.hasBegun { results.append(.damaged(.lost)) }
            }
        } else if self.buffer.isOpen, !isSameFrame {
            // The sender has not marked the last packet of the open frame.
            self.finish(&results)
        }
        self.hasBegun = true
        let isFirst = !self.buffer.isOpen
        if isFirst {
            self.buffer.open(packet, time: time)
            self.beginsAfterLoss = packet.isAfterLoss
        }
        if !self.buffer.count(packet) { self.damage(.tooLarge, &results) }
        if !self.buffer.isDamaged, let damage = self.take(packet.payload) {
            // The beginning of a fragmented unit is among the lost packets, which have been reported.
            let isReported = isFirst && packet.isAfterLoss && damage == .malformed
            self.damage(isReported ? nil : damage, &results)
        }
        if packet.marker { self.finish(&results) }
    }

    // MARK: Payloads

    private mutating func take(_ payload: ArraySlice<UInt8>) -> FrameDamage? {
        // Forbidden zero bit: the unit is known to be damaged (§5.3).
        guard let header = payload.first, header & 0x80 == 0 else { return .malformed }
        let type = header & 0x1F
        if type == Self.fuA { return self.takeFragment(payload, header) }
        // A new NAL unit begins before the fragmented one has ended.
        guard self.fragment == nil else { return .malformed }
        switch type {
        case 1...23: return self.takeUnit(payload)
        case Self.stapA: return self.takeAggregate(payload.dropFirst())
        default: return .malformed
        }
    }

    private mutating func takeAggregate(_ units: ArraySlice<UInt8>) -> FrameDamage? {
        var rest = units
        guard !rest.isEmpty else { return .malformed }
        while !rest.isEmpty {
            guard rest.count >= 2 else { return .malformed }
            let size = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
            guard size > 0, size <= rest.count else { return .malformed }
            let unit = rest.prefix(size)
            guard let header = unit.first, header & 0x80 == 0, 1...23 ~= header & 0x1F else { return .malformed }
            if let damage = self.takeUnit(unit) { return damage }
            rest = rest.dropFirst(size)
        }
        return nil
    }

    private mutating func takeFragment(_ payload: ArraySlice<UInt8>, _ indicator: UInt8) -> FrameDamage? {
        guard payload.count >= 2 else { return .malformed }
        let header = payload[payload.startIndex + 1]
        let (isStart, isEnd, type) = (header & 0x80 != 0, header & 0x40 != 0, header & 0x1F)
        guard 1...23 ~= type else { return .malformed }
        let bytes = payload.dropFirst(2)
        if isStart {
            guard self.fragment == nil else { return .malformed }
            guard self.units.count < Self.mostUnits, self.buffer.hasRoom(for: 5 + bytes.count) else { return .tooLarge }
            self.fragment = (self.buffer.bytes.count, type)
            // The length follows at the end.
            self.buffer.bytes += [0, 0, 0, 0, indicator & 0x60 | type]
            self.types.formUnion(NALTypes(header: type))
        } else {
            guard let fragment = self.fragment, fragment.type == type else { return .malformed }
            guard self.buffer.hasRoom(for: bytes.count) else { return .tooLarge }
        }
        self.buffer.bytes += bytes
        guard isEnd, let fragment = self.fragment else { return nil }
        let start = fragment.start + 4
        self.writeLength(self.buffer.bytes.count - start, at: fragment.start)
        self.units.append(Unit(range: start..<self.buffer.bytes.count, type: NALTypes(header: type)))
        self.fragment = nil
        return nil
    }

    private mutating func takeUnit(_ unit: ArraySlice<UInt8>) -> FrameDamage? {
        guard let header = unit.first else { return .malformed }
        let type = NALTypes(header: header)
        if !type.isDisjoint(with: Self.leftOut) { return nil }
        guard self.units.count < Self.mostUnits, self.buffer.hasRoom(for: 4 + unit.count) else { return .tooLarge }
        let start = self.buffer.bytes.count
        self.buffer.bytes += [0, 0, 0, 0]
        self.writeLength(unit.count, at: start)
        self.buffer.bytes += unit
        self.units.append(Unit(range: start + 4..<self.buffer.bytes.count, type: type))
        self.types.formUnion(type)
        return nil
    }

    /// - Parameter offset: Where to write four bytes that the buffer already has.
    private mutating func writeLength(_ length: Int, at offset: Int) {
        for index in 0..<4 {
            self.buffer.bytes[offset + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
        }
    }

    // MARK: Access units

    /// Reports the damage at once, so that a key frame can be requested before the frame ends.
    ///
    /// - Parameter damage: Nil if it has been reported.
    private mutating func damage(_ damage: FrameDamage?, _ results: inout [FrameResult]) {
        guard !self.buffer.isDamaged else { return }
        self.buffer.damage()
        self.clearUnits()
        self.noteLoss()
        if let damage { results.append(.damaged(damage)) }
    }

    private mutating func noteLoss() {
        self.hasLoss = true
        self.setsSinceLoss = []
        self.hasSetsAhead = false
    }

    private mutating func clearUnits() {
        self.units.removeAll(keepingCapacity: self.units.capacity <= 256)
        self.types = []
        self.fragment = nil
    }

    private mutating func close() {
        self.buffer.close()
        self.clearUnits()
    }

    private mutating func finish(_ results: inout [FrameResult]) {
        if self.buffer.isIntact {
            if self.fragment != nil {
                self.damage(.malformed, &results)
            } else if let damage = self.keepParameterSets() {
                self.damage(damage, &results)
            } else if self.types.isDisjoint(with: .pictures) {
                // Parameter sets that are sent before the frame in an access unit of their own.
                if self.types.contains(.sps) { self.hasSetsAhead = true }
            } else {
                self.hasSetsAhead = false
                if self.beginsAfterLoss, let first = self.slices.first, first.firstMacroblock != 0 {
                    // The beginning of the frame is among the lost packets.
                    self.damage(nil, &results)
                } else {
                    switch self.makeFrame() {
                    case .whole(let frame):
                        self.hasLoss = false
                        results.append(.whole(frame))
                    case .damaged(let damage): self.damage(damage, &results)
                    }
                }
            }
        }
        self.close()
    }

    private mutating func keepParameterSets() -> FrameDamage? {
        guard !self.types.isDisjoint(with: [.sps, .pps]) else { return nil }
        self.usesAnnouncedSets = false
        let count = self.units.count { !$0.type.isDisjoint(with: [.sps, .pps]) }
        guard count <= Self.mostParameterSets else { return .tooLarge }
        for unit in self.units where unit.type == .sps || unit.type == .pps {
            guard self.fresh.add(Array(self.buffer.bytes[unit.range])) else { return .malformed }
            self.setsSinceLoss.formUnion(unit.type)
        }
        return nil
    }

    private mutating func makeFrame() -> FrameResult {
        if self.types.contains(.idr) { return self.makeKeyFrame() }
        let memory = self.payload(without: self.current)
        // Only SEI of the frame's own access unit is searched for a recovery point.
        if self.types.contains(.sei), RecoveryPoint.isAtOnce(memory, in: 0..<memory.count),
            case .whole(let frame) = self.makeKeyFrame()
        {
            return .whole(frame)
        }
        return .whole(self.buffer.frame(memory, isKey: false))
    }

    private mutating func makeKeyFrame() -> FrameResult {
        guard self.hasCertainSets else { return .damaged(.noParameterSets) }
        let slices = self.slices
        guard !slices.isEmpty else { return .damaged(.malformed) }
        guard let sets = self.fresh.isComplete ? self.fresh : self.current.merged(with: self.fresh) else {
            return .damaged(.malformed)
        }
        var size: FrameSize?
        var isParsed = false
        for slice in slices {
            guard let sequence = sets.sequenceSet(ofPicture: slice.pictureSet) else {
                return .damaged(.noParameterSets)
            }
            // Only for the first slice: to parse a large set for each of a thousand slices would cost too much.
            if isParsed { continue }
            isParsed = true
            size = SequenceParameterSet(nalUnit: sequence).map { FrameSize(width: $0.width, height: $0.height) }
        }
        if sets != self.current || self.record.isEmpty {
            guard let record = sets.record else { return .damaged(.malformed) }
            self.current = sets
            self.record = record
        }
        self.fresh = AVCParameterSets()
        let memory = self.payload(without: sets)
        return .whole(self.buffer.frame(memory, isKey: true, size: size, configuration: self.record))
    }

    /// The first fields of the slice headers (§7.3.3). A slice that is too short for them is left out.
    private var slices: [(firstMacroblock: UInt32, pictureSet: UInt32)] {
        self.units.compactMap { unit in
            // Of data partitions, only the first has these fields.
            guard !unit.type.isDisjoint(with: [.slice, .partition, .idr]),
                let numbers = AVCParameterSets.numbers(self.buffer.bytes[unit.range].dropFirst(), count: 3)
            else { return nil }
            return (numbers[0], numbers[2])
        }
    }

    /// The access unit without the parameter sets that `sets` contains.
    private func payload(without sets: AVCParameterSets) -> PacketMemory {
        let isLeftOut = { (unit: Unit) -> Bool in
            !unit.type.isDisjoint(with: Self.leftOut)
                || !unit.type.isDisjoint(with: [.sps, .pps]) && sets.contains(Array(self.buffer.bytes[unit.range]))
        }
        guard !self.types.isDisjoint(with: Self.leftOut.union([.sps, .pps])), self.units.contains(where: isLeftOut)
        else {
            return PacketMemory(self.buffer.bytes)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.buffer.bytes.count)
        for unit in self.units where !isLeftOut(unit) {
            bytes += self.buffer.bytes[unit.range.lowerBound - 4..<unit.range.upperBound]
        }
        return PacketMemory(bytes)
    }
}
