/// Writes one transport-wide feedback message.
///
/// Wire format: draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1. Statuses are 0 (did not arrive), 1 (delta of
/// one byte) and 2 (delta of two bytes).
struct TransportFeedbackWriter {
    /// Finished chunks.
    private var chunks: [UInt8] = []
    private var deltas: [UInt8] = []
    /// First statuses of the unfinished chunk, at most 14: its other ones equal the first.
    private var statuses: [UInt8] = []
    /// Number of statuses in the unfinished chunk.
    private var size = 0
    private var isRun = true
    private var hasLargeDelta = false
    /// Number of packets reported so far.
    private(set) var count = 0
    /// Reference time in units of 64 ms.
    private let reference: Int64
    /// Time of the last packet that arrived, in units of 250 µs.
    private var last: Int64

    /// - Parameter first: Arrival of the first packet in units of 250 µs. Not negative.
    init(first: Int64) {
        self.reference = first / 256
        self.last = self.reference * 256
    }

    /// Upper bound of the size of the message so far in bytes, without zero padding.
    var byteCount: Int { 20 + self.chunks.count + self.deltas.count + (self.size == 0 ? 0 : self.isRun ? 2 : 4) }

    mutating func lost() { self.add(0) }

    /// Adds a packet that arrived.
    ///
    /// - Parameter time: In units of 250 µs.
    /// - Returns: False if its distance from the previous one does not fit; then nothing was added.
    mutating func arrived(_ time: Int64) -> Bool {
        let delta = time - self.last
        guard let large = Int16(exactly: delta) else { return false }
        self.last = time
        if let small = UInt8(exactly: delta) {
            self.deltas.append(small)
            self.add(1)
        } else {
            NetworkOrder.append(UInt16(bitPattern: large), to: &self.deltas)
            self.add(2)
        }
        return true
    }

    /// The whole message, with zeros up to a multiple of four bytes.
    mutating func message(sender: UInt32, media: UInt32, base: UInt16, number: UInt8) -> [UInt8] {
        while self.size > 0 { self.finishChunk(isLast: true) }
        let length = (20 + self.chunks.count + self.deltas.count + 3) / 4 * 4
        var bytes: [UInt8] = [0x8F, 205]
        bytes.reserveCapacity(length)
        NetworkOrder.append(UInt16(length / 4 - 1), to: &bytes)
        NetworkOrder.append(sender, to: &bytes)
        NetworkOrder.append(media, to: &bytes)
        NetworkOrder.append(base, to: &bytes)
        NetworkOrder.append(UInt16(self.count), to: &bytes)
        NetworkOrder.append(UInt32(truncatingIfNeeded: self.reference << 8) | UInt32(number), to: &bytes)
        bytes += self.chunks
        bytes += self.deltas
        bytes.append(contentsOf: repeatElement(0, count: length - bytes.count))
        return bytes
    }

    private mutating func add(_ status: UInt8) {
        if !self.fits(status) { self.finishChunk(isLast: false) }
        if self.statuses.count < 14 { self.statuses.append(status) }
        self.size += 1
        self.count += 1
        self.isRun = self.isRun && status == self.statuses[0]
        self.hasLargeDelta = self.hasLargeDelta || status == 2
    }

    private func fits(_ status: UInt8) -> Bool {
        if self.size < 7 { return true }
        if self.size < 14, !self.hasLargeDelta, status != 2 { return true }
        return self.size < 8191 && self.isRun && status == self.statuses[0]
    }

    /// Writes a run, a vector of 14 small statuses, or one of seven.
    private mutating func finishChunk(isLast: Bool) {
        var written = self.size
        if self.isRun {
            NetworkOrder.append(UInt16(self.statuses[0]) << 13 | UInt16(self.size), to: &self.chunks)
        } else if self.size == 14 || isLast && self.size > 7 {
            var chunk: UInt16 = 0x8000
            for (index, status) in self.statuses.enumerated() { chunk |= UInt16(status) << UInt16(13 - index) }
            NetworkOrder.append(chunk, to: &self.chunks)
        } else {
            written = min(7, self.size)
            var chunk: UInt16 = 0xC000
            for (index, status) in self.statuses.prefix(7).enumerated() {
                chunk |= UInt16(status) << UInt16(12 - 2 * index)
            }
            NetworkOrder.append(chunk, to: &self.chunks)
        }
        let left = written < self.size ? Array(self.statuses[written...]) : []
        self.statuses = left
        self.size = left.count
        self.isRun = left.allSatisfy { $0 == left[0] }
        self.hasLargeDelta = left.contains(2)
    }
}
