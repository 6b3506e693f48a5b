import HLS
import LibAV
import MediaKernels
import MediaTypes

/// Encryption settings of an output's segments.
package struct EncryptionSettings: Sendable, Hashable, CustomReflectable {
    /// Input to the key derivation, so that two rooms with the same secret have different keys.
    package var room: String
    /// Number of segments per key; 1 or more.
    package var rotation: Int64
    /// URI template for keys on another server, with `{track}` and `{period}` for the track's name and the key's
    /// number. `nil`: this worker serves the keys under ``SegmentKeys/name(_:track:)``.
    package var keyURI: String?
    /// The secret from which all keys are derived; `nil`: a random one.
    package var secret: [UInt8]?

    package init(room: String, rotation: Int64, keyURI: String? = nil, secret: [UInt8]? = nil) {
        self.room = room
        self.rotation = max(1, rotation)
        self.keyURI = keyURI
        self.secret = secret
    }

    /// Keeps the secret out of debug output.
    package var customMirror: Mirror { Mirror(self, children: ["rotation": self.rotation]) }
}

/// The AES-128 keys of a room: one for each track and each run of `rotation` segments (a period), each with its own
/// initialization vector.
///
/// All keys are derived from a secret, so only the secret is stored. The key of track `t` and period `p` is the first
/// half of HMAC-SHA256 over the lines `tandem-aes-128`, room, `key`, `t`, `p`, without a line break at the end.
/// Initialization vectors also depend on a salt of the session; playlists contain them. Each track has its own keys
/// because hls.js (1.6.15) reports an error if it loads the same key for audio and video at the same time.
struct SegmentKeys: Sendable, CustomReflectable {
    /// Name of the key file, which only this user can read and which is never served to viewers.
    static let fileName = ".keys.json"
    private static let secretSize = 32
    private static let longestSecret = 4_096

    let settings: EncryptionSettings
    private let secret: [UInt8]
    private let salt: [UInt8]

    var customMirror: Mirror { Mirror(self, children: [:]) }

    // MARK: Derivation

    private func derived(_ words: [String]) -> [UInt8] {
        let message = (["tandem-aes-128", self.settings.room] + words).joined(separator: "\n")
        let code = MessageAuthentication.hmacSHA256(key: self.secret, message: Array(message.utf8))
        return Array(code.prefix(BlockCipher.blockSize))
    }

    /// Number of the key period that contains a segment.
    func period(of mediaSequence: Int64) -> Int64 { max(0, mediaSequence) / self.settings.rotation }

    /// Returns the AES-128 key (16 bytes) of a track's key period.
    func key(_ period: Int64, track: String) -> [UInt8] { self.derived(["key", track, "\(period)"]) }

    /// The container of the encrypted media: fMP4 or MPEG-TS. Both use the same key, each with its own initialization
    /// vector.
    enum Form: String, Sendable {
        case fragments
        case transport
    }

    private func vector(_ period: Int64, track: String, _ form: Form = .fragments) -> [UInt8] {
        let words = ["vector", Hexadecimal.text(self.salt), track, "\(period)"]
        return self.derived(form == .fragments ? words : words + [form.rawValue])
    }

    /// Returns the `EXT-X-KEY` values that playlists declare for a segment.
    func segmentKey(of mediaSequence: Int64, track: String, _ form: Form = .fragments) -> SegmentKey {
        let period = self.period(of: mediaSequence)
        let uri =
            self.settings.keyURI.map {
                $0.replacing("{track}", with: track).replacing("{period}", with: "\(period)")
            } ?? Self.name(period, track: track)
        return SegmentKey(method: .aes128, uri: uri, initializationVector: self.vector(period, track: track, form))
    }

    /// Returns the name under which the playback listener serves a key.
    static func name(_ period: Int64, track: String) -> String { "\(track)-\(period).key" }

    /// Parses the name of a key into its track and period; `nil` for other names.
    static func place(named name: String) -> (track: String, period: Int64)? {
        guard name.hasSuffix(".key"), let dash = name.lastIndex(of: "-"),
            let period = Int64(name[name.index(after: dash)...].dropLast(4)), period >= 0
        else { return nil }
        let track = String(name[..<dash])
        return Self.name(period, track: track) == name ? (track, period) : nil
    }

    // MARK: Media

    /// Encrypts the concatenated pieces of a segment or a part as one AES-CBC run.
    func sealed(
        _ pieces: [PacketMemory], of mediaSequence: Int64, track: String, _ form: Form = .fragments
    ) -> PacketMemory {
        let period = self.period(of: mediaSequence)
        // Key and vector have the size that the cipher needs. If memory runs out, the result is empty rather than clear
        // bytes.
        return BlockCipher.sealed(
            pieces, key: self.key(period, track: track), vector: self.vector(period, track: track, form))
            ?? PacketMemory([])
    }

    /// Decrypts a segment or a part; `nil` if it is damaged.
    func opened(_ bytes: [UInt8], of mediaSequence: Int64, track: String) -> [UInt8]? {
        let period = self.period(of: mediaSequence)
        return BlockCipher.opened(bytes, key: self.key(period, track: track), vector: self.vector(period, track: track))
    }

    // MARK: Keeping

    /// Makes keys from a new secret, unless the settings contain one.
    init(_ settings: EncryptionSettings) {
        var random = SystemRandomNumberGenerator()
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
        self.settings = settings
        self.secret = settings.secret ?? bytes(Self.secretSize)
        self.salt = bytes(BlockCipher.blockSize)
    }

    /// Reads the key file that a previous worker has written.
    ///
    /// - Returns: `nil` for a damaged file.
    init?(_ settings: EncryptionSettings, json bytes: [UInt8]) {
        guard let root = JSONParser.parse(bytes).faultless, root[key: "version"]?.integer == 1,
            let rotation = root[key: "rotateEverySegments"]?.integer,
            let secret = root[key: "secret"]?.string.flatMap(Hexadecimal.decode),
            (1...Self.longestSecret).contains(secret.count),
            let salt = root[key: "salt"]?.string.flatMap(Hexadecimal.decode), salt.count == BlockCipher.blockSize
        else { return nil }
        self.settings = EncryptionSettings(
            room: settings.room, rotation: rotation, keyURI: settings.keyURI, secret: settings.secret)
        self.secret = secret
        self.salt = salt
    }

    /// Whether the stored keys match the rotation and the secret in the settings.
    func fits(_ settings: EncryptionSettings) -> Bool {
        self.settings.rotation == settings.rotation && (settings.secret.map { $0 == self.secret } ?? true)
    }

    /// The content of the key file.
    var json: String {
        "{\n\"version\": 1,\n\"rotateEverySegments\": \(self.settings.rotation),\n"
            + "\"secret\": \"\(Hexadecimal.text(self.secret))\",\n\"salt\": \"\(Hexadecimal.text(self.salt))\"\n}\n"
    }
}

extension HLSPackager {
    /// Returns the keys of a claimed room: the existing ones, or new ones if the room has published nothing yet; `nil`
    /// if it is not encrypted.
    ///
    /// - Parameter isBegun: Whether a previous worker has published segments.
    /// - Throws: ``MediaError/Code/rejected`` if the room's encryption differs from the settings, or its key file is
    ///   missing or damaged; ``MediaError/Code/notCreatable`` if the key file cannot be written,
    ///   ``MediaError/Code/outputLost`` if that of an earlier room cannot be removed.
    static func claimKeys(
        _ settings: HLSOutputSettings, isBegun: Bool, _ store: any SegmentStore
    ) throws(MediaError) -> SegmentKeys? {
        func refuse(_ what: String) -> MediaError {
            MediaError(
                .rejected, "the room in \(settings.directory) \(what)", at: "hls.encryption",
                fix: "keep the same encryption for the life of a room, or choose another directory")
        }
        let kept = store.read(SegmentKeys.fileName)
        guard isBegun else {
            guard let encryption = settings.encryption else {
                if kept != nil { try store.remove(SegmentKeys.fileName) }
                return nil
            }
            let keys = SegmentKeys(encryption)
            do {
                try store.keep(secret: SegmentKeys.fileName, Array(keys.json.utf8))
            } catch {
                throw MediaError(
                    .notCreatable, error.what, at: error.place, fix: "name a directory this user can write")
            }
            return keys
        }
        switch (settings.encryption, kept) {
        case (nil, nil): return nil
        case (nil, _): throw refuse("is encrypted")
        case (_?, nil): throw refuse("is not encrypted, or its \(SegmentKeys.fileName) is lost")
        case (let encryption?, let bytes?):
            guard let keys = SegmentKeys(encryption, json: bytes) else {
                throw refuse("has a damaged \(SegmentKeys.fileName)")
            }
            guard keys.fits(encryption) else { throw refuse("has another secret or key rotation") }
            return keys
        }
    }

    /// Looks up a key by its name; `nil` if its first segment is later than the next few segments, if another server
    /// serves the keys, and for other names.
    func keyObject(named name: String) -> PublishedObject? {
        let next = max(
            self.recordedNumber.load(ordering: .acquiring), self.shownNumber.load(ordering: .acquiring))
        guard let keys = self.keys, keys.settings.keyURI == nil, let (track, period) = SegmentKeys.place(named: name),
            self.tracks.contains(where: { $0.name == track }) || self.subtitleNames.contains(track)
                || self.claimed.subtitles.contains(where: { $0.name == track })
                || self.claimed.formerSubtitles.contains(where: { $0.name == track }),
            period <= keys.period(of: next + Self.keysAhead)
        else { return nil }
        return PublishedObject(
            body: .bytes(keys.key(period, track: track)), contentType: "application/octet-stream",
            cacheControl: "no-store")
    }

    /// Number of segments after the listed ones whose keys are already available: those in progress and in preload
    /// hints.
    private static let keysAhead: Int64 = 4
}
