import HLS
import LibAV
import MediaKernels
import MediaTypes

/// How an output's segments are encrypted.
package struct EncryptionSettings: Sendable, Hashable, CustomReflectable {
    /// Part of what keys are derived from, so that two rooms with one secret have keys of their own.
    package var room: String
    /// Segments with one key; 1 or more.
    package var rotation: Int64
    /// With `{track}` and `{period}` for the track's name and the number of its key; `nil`: ``RoomKeys/name(_:track:)``.
    package var keyURI: String?
    /// `nil`: random.
    package var secret: [UInt8]?

    package init(room: String, rotation: Int64, keyURI: String? = nil, secret: [UInt8]? = nil) {
        self.room = room
        self.rotation = max(1, rotation)
        self.keyURI = keyURI
        self.secret = secret
    }

    /// A dump shows no secret.
    package var customMirror: Mirror { Mirror(self, children: ["rotation": self.rotation]) }
}

/// The keys of a room: one for each track and number of segments, with a vector of its own.
///
/// All of them follow from a secret, so nothing but the secret is to be kept: the key of track `t` and period `p` is the first
/// half of HMAC-SHA256 over the lines `tandem-aes-128`, room, `key`, `t`, `p`, without a line break at the end. Vectors follow
/// from a salt of the session, too; players are told them. Each track has keys of its own because hls.js (1.6.15) reports an
/// error where it loads one key for the sound and for the pictures at the same time.
struct RoomKeys: Sendable, CustomReflectable {
    /// The file they are kept in, for this user alone; never an object of viewers'.
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

    func period(of mediaSequence: Int64) -> Int64 { max(0, mediaSequence) / self.settings.rotation }

    /// 16 bytes.
    func key(_ period: Int64, track: String) -> [UInt8] { self.derived(["key", track, "\(period)"]) }

    /// What is encrypted: the same media in another form has the same key, and a vector of its own.
    enum Form: String, Sendable {
        case fragments
        case transport
    }

    private func vector(_ period: Int64, track: String, _ form: Form = .fragments) -> [UInt8] {
        let words = ["vector", Hexadecimal.text(self.salt), track, "\(period)"]
        return self.derived(form == .fragments ? words : words + [form.rawValue])
    }

    /// What the playlists say of a segment's key.
    func segmentKey(of mediaSequence: Int64, track: String, _ form: Form = .fragments) -> SegmentKey {
        let period = self.period(of: mediaSequence)
        let uri =
            self.settings.keyURI.map {
                $0.replacing("{track}", with: track).replacing("{period}", with: "\(period)")
            } ?? Self.name(period, track: track)
        return SegmentKey(method: .aes128, uri: uri, initializationVector: self.vector(period, track: track, form))
    }

    /// The key's name at the viewers' listener.
    static func name(_ period: Int64, track: String) -> String { "\(track)-\(period).key" }

    /// Track and period of a key's name.
    static func place(named name: String) -> (track: String, period: Int64)? {
        guard name.hasSuffix(".key"), let dash = name.lastIndex(of: "-"),
            let period = Int64(name[name.index(after: dash)...].dropLast(4)), period >= 0
        else { return nil }
        let track = String(name[..<dash])
        return Self.name(period, track: track) == name ? (track, period) : nil
    }

    // MARK: Media

    /// A segment or a part, encrypted as one run.
    func sealed(
        _ pieces: [PacketMemory], of mediaSequence: Int64, track: String, _ form: Form = .fragments
    ) -> PacketMemory {
        let period = self.period(of: mediaSequence)
        // Both are of the size that the cipher wants; without memory nothing goes out rather than clear bytes.
        return BlockCipher.sealed(
            pieces, key: self.key(period, track: track), vector: self.vector(period, track: track, form))
            ?? PacketMemory([])
    }

    func opened(_ bytes: [UInt8], of mediaSequence: Int64, track: String) -> [UInt8]? {
        let period = self.period(of: mediaSequence)
        return BlockCipher.opened(bytes, key: self.key(period, track: track), vector: self.vector(period, track: track))
    }

    // MARK: Keeping

    /// New ones.
    init(_ settings: EncryptionSettings) {
        var random = SystemRandomNumberGenerator()
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
        self.settings = settings
        self.secret = settings.secret ?? bytes(Self.secretSize)
        self.salt = bytes(BlockCipher.blockSize)
    }

    /// Those of the worker before.
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

    /// They are what the settings ask for.
    func fits(_ settings: EncryptionSettings) -> Bool {
        self.settings.rotation == settings.rotation && (settings.secret.map { $0 == self.secret } ?? true)
    }

    /// The file's content.
    var json: String {
        "{\n\"version\": 1,\n\"rotateEverySegments\": \(self.settings.rotation),\n"
            + "\"secret\": \"\(Hexadecimal.text(self.secret))\",\n\"salt\": \"\(Hexadecimal.text(self.salt))\"\n}\n"
    }
}

extension HLSPackager {
    /// The keys of a room that is claimed: those it has, or new ones where nothing of it is published yet.
    ///
    /// - Parameter isBegun: The worker before has published.
    /// - Throws: ``MediaError/Code/rejected`` where players would not be able to open what is listed.
    static func claimKeys(
        _ settings: HLSOutputSettings, isBegun: Bool, _ store: any SegmentStore
    ) throws(MediaError) -> RoomKeys? {
        func refuse(_ what: String) -> MediaError {
            MediaError(
                .rejected, "the room in \(settings.directory) \(what)", at: "hls.encryption",
                fix: "keep its encryption for the life of a room, or choose another directory")
        }
        let kept = store.read(RoomKeys.fileName)
        guard isBegun else {
            guard let encryption = settings.encryption else {
                if kept != nil { try store.remove(RoomKeys.fileName) }
                return nil
            }
            let keys = RoomKeys(encryption)
            do {
                try store.keep(secret: RoomKeys.fileName, Array(keys.json.utf8))
            } catch {
                throw MediaError(
                    .notCreatable, error.what, at: error.place, fix: "name a directory this user can write")
            }
            return keys
        }
        switch (settings.encryption, kept) {
        case (nil, nil): return nil
        case (nil, _): throw refuse("is encrypted")
        case (_?, nil): throw refuse("is not encrypted, or its \(RoomKeys.fileName) is lost")
        case (let encryption?, let bytes?):
            guard let keys = RoomKeys(encryption, json: bytes) else {
                throw refuse("has a damaged \(RoomKeys.fileName)")
            }
            guard keys.fits(encryption) else { throw refuse("has another secret, or keeps keys for other lengths") }
            return keys
        }
    }

    /// A key that something listed may be encrypted with: up to those of the segments that come next.
    func keyObject(named name: String) -> PublishedObject? {
        let next = max(
            self.recordedNumber.load(ordering: .acquiring), self.shownNumber.load(ordering: .acquiring))
        guard let keys = self.keys, keys.settings.keyURI == nil, let (track, period) = RoomKeys.place(named: name),
            self.tracks.contains(where: { $0.name == track }), period <= keys.period(of: next + Self.keysAhead)
        else { return nil }
        return PublishedObject(
            body: .bytes(keys.key(period, track: track)), contentType: "application/octet-stream",
            cacheControl: "no-store")
    }

    /// Segments behind those that the state file or the live edge has: the ones in the making, and what they hint at.
    private static let keysAhead: Int64 = 4
}
