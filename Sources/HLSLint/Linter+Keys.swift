/// Decrypts a segment: bytes, key and initialization vector in, clear bytes out; `nil` if they do not fit. If `isWhole`
/// is false, the bytes are whole blocks of a segment without padding at their end.
package typealias LintCipher =
    @Sendable (_ bytes: [UInt8], _ key: [UInt8], _ vector: [UInt8], _ isWhole: Bool) -> [UInt8]?

/// Encrypted segments and parts. Spec: rfc8216bis §4.4.4.4, §5.2, §6.3.6.
extension Linter {
    /// Size of an AES-128 key and of an initialization vector in bytes.
    private static let keySize = 16

    /// The parameters of EXT-X-KEY for decrypting a whole segment.
    struct Lock: Sendable, Hashable {
        let uri: String
        /// `nil`: the media sequence number is the initialization vector.
        let vector: [UInt8]?

        /// - Returns: `nil` for another method or another key format.
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

        /// - Parameter number: Media sequence number.
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
            // A key may require authorization, and a local directory may not have it: this is not a finding.
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

    enum Opened {
        case clear([UInt8])
        case waits
        case unread
    }

    /// Decrypts a segment or part.
    ///
    /// - Parameter isSure: It is known which key was used.
    mutating func opened(
        _ reply: LintReply, _ segment: MediaList.Segment, _ index: Int, isSure: Bool
    ) -> Opened {
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

    /// The bytes to request for a range of an encrypted segment: whole blocks, plus the block before them, which is the
    /// initialization vector of the first. Spec: §6.3.6.
    struct BlockRange: Sendable, Hashable {
        private static let blockSize: Int64 = 16
        /// First byte to request, and number of bytes.
        let start: Int64
        let count: Int64
        /// Whether the first block is the initialization vector.
        let hasVector: Bool
        /// The listed bytes, as a range of the decrypted bytes after the vector.
        let listed: Range<Int>

        /// - Parameter byteRange: As in EXT-X-BYTERANGE, with an offset.
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

    /// The byte range to request for an entry of an I-frame playlist.
    func wideRange(_ segment: MediaList.Segment, _ index: Int) -> String? {
        guard let range = segment.byteRange else { return nil }
        guard self.histories[index].list?.isIFramesOnly == true, !segment.key.isEmpty, self.cipher != nil,
            Lock(segment.key) != nil
        else { return range }
        return BlockRange(range)?.text ?? range
    }

    /// The decrypted bytes of an entry of an I-frame playlist.
    func openedRange(_ reply: LintReply, _ segment: MediaList.Segment, _ index: Int) -> Opened {
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
