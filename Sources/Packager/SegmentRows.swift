/// A queue of consecutive segments of one track, oldest first.
///
/// The rows are kept in blocks: a copy of a queue of a day shares all blocks, and a change after a copy copies only one
/// block and the list of blocks.
struct SegmentRows: Sendable {
    /// Rows per block.
    private static let blockSize = 128

    /// All blocks but the last are full.
    private var blocks: [[StateFile.Entry]] = []
    /// Number of rows at the start of the first block that were removed.
    private var skipped = 0
    private(set) var count = 0

    var isEmpty: Bool { self.count == 0 }
    var first: StateFile.Entry? { self.isEmpty ? nil : self[0] }
    var last: StateFile.Entry? { self.isEmpty ? nil : self[self.count - 1] }

    /// The row at an index, 0 for the oldest; the index must be valid.
    subscript(index: Int) -> StateFile.Entry {
        get {
            let place = index + self.skipped
            return self.blocks[place / Self.blockSize][place % Self.blockSize]
        }
        set {
            let place = index + self.skipped
            self.blocks[place / Self.blockSize][place % Self.blockSize] = newValue
        }
    }

    /// Index of the row with a media sequence number; `nil` if there is none.
    func index(of mediaSequence: Int64) -> Int? {
        guard let first = self.first?.mediaSequence, mediaSequence >= first, mediaSequence - first < Int64(self.count)
        else { return nil }
        return Int(mediaSequence - first)
    }

    /// Adds the next row. Amortized O(1).
    mutating func append(_ row: StateFile.Entry) {
        if (self.count + self.skipped).isMultiple(of: Self.blockSize) {
            var block: [StateFile.Entry] = []
            block.reserveCapacity(Self.blockSize)
            self.blocks.append(block)
        }
        self.blocks[self.blocks.count - 1].append(row)
        self.count += 1
    }

    /// Removes and returns the oldest row.
    mutating func removeFirst() -> StateFile.Entry? {
        guard let row = self.first else { return nil }
        self.skipped += 1
        self.count -= 1
        if self.skipped == Self.blockSize || self.isEmpty {
            self.blocks.removeFirst()
            self.skipped = 0
        }
        return row
    }
}
