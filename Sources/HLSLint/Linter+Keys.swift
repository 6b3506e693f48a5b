/// A function that decrypts a segment with a key and an initialization vector. It returns `nil` if the bytes cannot be
/// decrypted. If `isWhole` is false, the bytes are complete cipher blocks from a segment, without padding at the end.
package typealias LintCipher =
    @Sendable (_ bytes: [UInt8], _ key: [UInt8], _ vector: [UInt8], _ isWhole: Bool) -> [UInt8]?

/// Checks of encrypted segments and parts. Spec: rfc8216bis §4.4.4.4, §5.2, §6.3.6.
extension Linter {
    /// Size of an AES-128 key and of an initialization vector in bytes.
    private static let keySize = 16

    /// The attributes of EXT-X-KEY that are needed to decrypt a whole segment.
    struct Lock: Sendable, Hashable {
        let uri: String
        /// Initialization vector of 16 bytes; `nil` if IV is missing or invalid: then the media sequence number is used.
        let vector: [UInt8]?

        /// Reads the attributes of EXT-X-KEY.
        ///
        /// - Returns: `nil` for another method than AES-128, another key format, or a missing URI.
        init?(_ attributes: String) {
            let list = AttributeList(attributes)
            guard list.members["METHOD"]?.text == "AES-128", let uri = list.members["URI"]?.text,
                (list.members["KEYFORMAT"]?.text ?? "identity") == "identity"
            else { return nil }
            self.uri = uri
            self.vector = list.members["IV"].flatMap { Self.bytes($0.text) }
        }

        private static func bytes(_ text: String) -> [UInt8]? {
            guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
            let digits = text.utf8.dropFirst(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 32, text.utf8.count == 34 else { return nil }
            return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        }

        /// Returns the initialization vector of a segment.
        ///
        /// - Parameter number: Media sequence number of the segment.
        func vector(of number: Int64) -> [UInt8] {
            self.vector ?? [UInt8](repeating: 0, count: 8)
                + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) }
        }
    }

    mutating func fetchKey(_ attributes: String, _ index: Int) -> [LintRequest] {
        guard !attributes.isEmpty, let lock = Lock(attributes) else { return [] }
        if lock.vector == nil {
            self.addOnce(.keyVector, "EXT-X-KEY has no IV of 16 bytes", in: index)
        }
        guard self.cipher != nil, self.histories[index].keys[lock.uri] == nil else { return [] }
        self.histories[index].keys[lock.uri] = .asked
        return [LintRequest(.key(index, lock.uri), Location.resolve(lock.uri, against: self.histories[index].url))]
    }

    mutating func receivedKey(_ reply: LintReply, _ index: Int, _ uri: String) -> [LintRequest] {
        if reply.isGood, reply.body.count == Self.keySize {
            self.histories[index].keys[uri] = .known(reply.body)
        } else {
            self.histories[index].keys[uri] = .failed
            // A key may require authorization, and a local directory may not contain it; neither is a finding.
            if reply.isGood {
                self.add(.keyWrong, "\(Self.bare(uri)) has \(reply.body.count) bytes", index)
            } else if !reply.isLocal, reply.status != 401, reply.status != 403 {
                self.add(.resourceMissing, "\(Self.bare(uri)): \(reply.reason)", index)
            }
        }
        let waiting = self.histories[index].waiting
        self.histories[index].waiting = []
        return waiting.flatMap { self.receivedMedia($0.reply, $0.request) }
    }

    private static func bare(_ uri: String) -> String { Location.withoutQuery(uri) }

    /// The result of decrypting a segment or part.
    enum DecryptionResult {
        case clear([UInt8])
        case waits
        case unread
    }

    /// Decrypts a received segment or part.
    ///
    /// - Parameter isSure: Whether it is known which key was used; only then a failure is a finding.
    mutating func opened(
        _ reply: LintReply, _ segment: MediaList.Segment, _ index: Int, isSure: Bool
    ) -> DecryptionResult {
        if segment.key.isEmpty { return .clear(reply.body) }
        guard let cipher = self.cipher, let lock = Lock(segment.key) else { return .unread }
        switch self.histories[index].keys[lock.uri] {
        case .asked: return .waits
        case .failed, nil: return .unread
        case .known(let key):
            if let clear = cipher(reply.body, key, lock.vector(of: segment.number), true) { return .clear(clear) }
            if isSure {
                self.add(
                    .keyWrong, "its \(reply.body.count) bytes cannot be decrypted with \(Self.bare(lock.uri))", index,
                    segment: segment.number)
            }
            return .unread
        }
    }

    /// The bytes to request for a byte range of an encrypted segment: complete cipher blocks, plus the block before
    /// them if there is one, which is the initialization vector of the first one. Spec: §6.3.6.
    struct BlockRange: Sendable, Hashable {
        private static let blockSize: Int64 = 16
        /// First byte to request.
        let start: Int64
        /// Number of bytes to request.
        let count: Int64
        /// Whether the first block is the initialization vector.
        let hasVector: Bool
        /// Position of the listed bytes in the decrypted bytes.
        let listed: Range<Int>

        /// Extends a byte range to whole cipher blocks; nil if the range is not valid.
        ///
        /// - Parameter byteRange: Value of EXT-X-BYTERANGE with an offset.
        init?(_ byteRange: String) {
            guard let range = LintRequest.range(byteRange), range.count > 0, range.start >= 0,
                range.start < 1 << 40, range.count < 1 << 40
            else { return nil }
            let first = range.start / Self.blockSize * Self.blockSize
            let end = (range.start + range.count + Self.blockSize - 1) / Self.blockSize * Self.blockSize
            self.hasVector = first >= Self.blockSize
            self.start = self.hasVector ? first - Self.blockSize : first
            self.count = end - self.start
            let offset = Int(range.start - first)
            self.listed = offset..<(offset + Int(range.count))
        }

        var text: String { "\(self.count)@\(self.start)" }
    }

    /// Returns the byte range to request for a segment or I-frame entry: that of an I-frame entry which can be decrypted
    /// is extended to whole cipher blocks. `nil` for the whole resource.
    func wideRange(_ segment: MediaList.Segment, _ index: Int) -> String? {
        guard let range = segment.byteRange else { return nil }
        guard self.histories[index].list?.isIFramesOnly == true, !segment.key.isEmpty, self.cipher != nil,
            Lock(segment.key) != nil
        else { return range }
        return BlockRange(range)?.text ?? range
    }

    /// Decrypts the bytes of an entry of an I-frame playlist.
    func openedRange(_ reply: LintReply, _ segment: MediaList.Segment, _ index: Int) -> DecryptionResult {
        if segment.key.isEmpty { return .clear(reply.body) }
        guard let cipher = self.cipher, let lock = Lock(segment.key),
            let range = segment.byteRange.flatMap({ BlockRange($0) })
        else { return .unread }
        switch self.histories[index].keys[lock.uri] {
        case .asked: return .waits
        case .failed, nil: return .unread
        case .known(let key):
            let blocks = range.hasVector ? Array(reply.body.dropFirst(Self.keySize)) : reply.body
            let vector =
                range.hasVector ? Array(reply.body.prefix(Self.keySize)) : lock.vector(of: segment.number)
            guard let clear = cipher(blocks, key, vector, false) else { return .clear([]) }
            return .clear(Array(clear[range.listed.clamped(to: clear.indices)]))
        }
    }
}
