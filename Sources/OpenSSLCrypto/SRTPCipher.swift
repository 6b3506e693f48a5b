internal import COpenSSL
internal import MediaTypes

/// The cipher of one direction for RTP or RTCP, with contexts that are reused for every packet.
///
/// Used by one thread at a time. Packets need no allocation with GCM; OpenSSL's HMAC makes two small ones for each.
///
/// Spec: RFC 3711 §4.1.1 and §4.2.1 (counter mode, HMAC-SHA1); RFC 7714 §8 and §9 (GCM).
@safe
final class SRTPCipher {
    /// Where the parts of a packet are. Each method checks them against the packet.
    struct Layout {
        /// Size of the header, which is authenticated but not encrypted.
        let header: Int
        /// End of the encrypted part.
        let end: Int
        /// For RTCP, the word with the index, which is in the packet as well; `nil` for RTP.
        let word: UInt32?

        /// Size of a packet with this layout after protection.
        func size(_ tag: Int) -> Int { self.end + tag + (self.word == nil ? 0 : SRTPHeader.wordSize) }
    }

    /// Initialization vector: 16 bytes in counter mode, 12 with GCM.
    private typealias Vector = (UInt64, UInt64)

    private let profile: SRTPKeys.Profile
    private let context: OpaquePointer
    private let mac: OpaquePointer?
    /// The session salt at the beginning of a vector, as two numbers in network order.
    private let salt: Vector

    /// - Throws: ``MediaError/Code/rejected`` if a key or salt has the wrong size; ``MediaError/Code/internal`` if OpenSSL
    ///   lacks a cipher or memory.
    init(_ keys: SRTPSessionKeys, seals: Bool) throws(MediaError) {
        guard keys.encryption.count == keys.profile.keySize, keys.salt.count == keys.profile.saltSize else {
            throw MediaError(.rejected, "a session key has the wrong size", at: "srtp", fix: "pass the derived keys")
        }
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            throw MediaError.openSSL("no cipher context", at: "srtp")
        }
        let isGCM = keys.profile == .aes128GCM
        self.profile = keys.profile
        unsafe self.context = context
        unsafe self.mac = isGCM ? nil : copenssl_make_hmac_sha1()
        self.salt = (Self.number(keys.salt, from: 0), Self.number(keys.salt, from: 8))
        // In counter mode, encryption is decryption. The key has 16 bytes, checked above.
        let cipher = unsafe isGCM ? EVP_aes_128_gcm() : EVP_aes_128_ctr()
        guard unsafe EVP_CipherInit_ex(context, cipher, nil, keys.encryption, nil, seals ? 1 : 0) == 1 else {
            throw MediaError.openSSL("AES-128 is not available", at: "srtp")
        }
        guard unsafe isGCM || EVP_MAC_init(self.mac, keys.authentication, keys.authentication.count, nil) == 1 else {
            throw MediaError.openSSL("HMAC-SHA1 is not available", at: "srtp")
        }
    }

    // Both functions accept null.
    deinit {
        unsafe EVP_CIPHER_CTX_free(self.context)
        unsafe EVP_MAC_CTX_free(self.mac)
    }

    private static func number(_ bytes: [UInt8], from start: Int) -> UInt64 {
        (start..<start + 8).reduce(0) { $0 << 8 | ($1 < bytes.count ? UInt64(bytes[$1]) : 0) }
    }

    /// The vector in network order.
    ///
    /// - Parameter index: 48 bits for RTP, 31 for RTCP.
    private func vector(_ ssrc: UInt32, _ index: UInt64) -> Vector {
        switch self.profile {
        case .aes128GCM:
            // Two zero bytes, SSRC, and the index in six bytes: RFC 7714 §8.1 and §9.1.
            let low = UInt64(UInt32(truncatingIfNeeded: index)) << 32
            return (
                (self.salt.0 ^ (UInt64(ssrc) << 16 | index >> 32)).bigEndian, (self.salt.1 ^ low).bigEndian
            )
        case .aes128CMSHA1:
            return ((self.salt.0 ^ UInt64(ssrc)).bigEndian, (self.salt.1 ^ index << 16).bigEndian)
        }
    }

    /// Encrypts a packet in place and writes its tag, and for RTCP its word, into the bytes behind its payload.
    ///
    /// - Parameter packet: Must have the size that the layout has after protection.
    /// - Returns: Whether it succeeded; if not, the packet must not be sent.
    func seal(_ packet: inout [UInt8], layout: Layout, ssrc: UInt32, index: UInt64) -> Bool {
        guard self.fits(packet, layout) else { return false }
        let vector = self.vector(ssrc, index)
        return unsafe packet.withUnsafeMutableBytes { bytes in
            // `fits` has checked that header ≤ end and that tag and word are within the buffer.
            guard let base = bytes.baseAddress else { return false }
            switch self.profile {
            case .aes128GCM:
                guard
                    unsafe self.start(vector, header: base, layout)
                        && self.crypt(base + layout.header, layout.end - layout.header)
                        && self.finish(base + layout.end)
                        && copenssl_get_tag(self.context, base + layout.end, Int32(self.profile.tagSize)) == 1
                else { return false }
                if let word = layout.word {
                    unsafe base.storeBytes(
                        of: word.bigEndian, toByteOffset: layout.end + self.profile.tagSize, as: UInt32.self)
                }
            case .aes128CMSHA1:
                guard unsafe self.start(vector, header: nil, layout),
                    unsafe self.crypt(base + layout.header, layout.end - layout.header)
                else { return false }
                if let word = layout.word {
                    unsafe base.storeBytes(of: word.bigEndian, toByteOffset: layout.end, as: UInt32.self)
                }
                guard let tag = unsafe self.tag(base, layout, index) else { return false }
                let place = layout.end + (layout.word == nil ? 0 : SRTPHeader.wordSize)
                // Ten of the twenty bytes, for which `fits` has found room.
                for byte in 0..<self.profile.tagSize {
                    unsafe base.storeBytes(of: tag[byte], toByteOffset: place + byte, as: UInt8.self)
                }
            }
            return true
        }
    }

    /// Checks the tag of a packet and decrypts it in place.
    ///
    /// - Parameter packet: Must have the size that the layout has after protection. With GCM, its encrypted part has
    ///   changed even if the result is false.
    /// - Returns: Whether the packet is authentic.
    func open(_ packet: inout [UInt8], layout: Layout, ssrc: UInt32, index: UInt64) -> Bool {
        guard self.fits(packet, layout) else { return false }
        let vector = self.vector(ssrc, index)
        let isAuthentic = unsafe packet.withUnsafeMutableBytes { bytes in
            // `fits` has checked that header ≤ end and that tag and word are within the buffer.
            guard let base = bytes.baseAddress else { return false }
            switch self.profile {
            case .aes128GCM:
                return unsafe self.start(vector, header: base, layout)
                    && self.crypt(base + layout.header, layout.end - layout.header)
                    && copenssl_set_tag(self.context, base + layout.end, Int32(self.profile.tagSize)) == 1
                    && self.finish(base + layout.end)
            case .aes128CMSHA1:
                guard let tag = unsafe self.tag(base, layout, index) else { return false }
                let place = layout.end + (layout.word == nil ? 0 : SRTPHeader.wordSize)
                let isEqual = unsafe withUnsafeBytes(of: tag) { tag in
                    unsafe CRYPTO_memcmp(tag.baseAddress, base + place, self.profile.tagSize) == 0
                }
                return unsafe isEqual && self.start(vector, header: nil, layout)
                    && self.crypt(base + layout.header, layout.end - layout.header)
            }
        }
        // A failure may have recorded an error, which would be taken for one of a later call on this thread.
        if !isAuthentic { ERR_clear_error() }
        return isAuthentic
    }

    private func fits(_ packet: [UInt8], _ layout: Layout) -> Bool {
        layout.header >= 0 && layout.header <= layout.end && packet.count <= 1 << 20
            && packet.count == layout.size(self.profile.tagSize)
    }

    /// Sets the vector, and with GCM the data that is only authenticated.
    private func start(_ vector: Vector, header: UnsafeMutableRawPointer?, _ layout: Layout) -> Bool {
        // The vector has 16 bytes; both ciphers read at most that. The direction stays as it was set.
        let isSet = unsafe withUnsafeBytes(of: vector) { vector in
            unsafe EVP_CipherInit_ex(
                self.context, nil, nil, nil, vector.baseAddress?.assumingMemoryBound(to: UInt8.self), -1) == 1
        }
        guard isSet else { return false }
        guard let header = unsafe header else { return true }
        var written: Int32 = 0
        guard
            unsafe EVP_CipherUpdate(
                self.context, nil, &written, header.assumingMemoryBound(to: UInt8.self), Int32(layout.header)) == 1
        else { return false }
        guard let word = layout.word else { return true }
        return unsafe withUnsafeBytes(of: word.bigEndian) { word in
            unsafe EVP_CipherUpdate(
                self.context, nil, &written, word.baseAddress?.assumingMemoryBound(to: UInt8.self),
                Int32(SRTPHeader.wordSize)) == 1
        }
    }

    /// Encrypts or decrypts in place, which OpenSSL allows.
    private func crypt(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> Bool {
        guard count > 0 else { return true }
        let bytes = unsafe bytes.assumingMemoryBound(to: UInt8.self)
        var written: Int32 = 0
        return unsafe EVP_CipherUpdate(self.context, bytes, &written, bytes, Int32(count)) == 1
            && Int(written) == count
    }

    /// Ends a packet with GCM. Nothing is written, since a stream cipher keeps no bytes back.
    private func finish(_ bytes: UnsafeMutableRawPointer) -> Bool {
        var written: Int32 = 0
        return unsafe EVP_CipherFinal_ex(self.context, bytes.assumingMemoryBound(to: UInt8.self), &written) == 1
    }

    /// The HMAC-SHA1 of a packet: 20 bytes, of which the first ten are the tag.
    ///
    /// Spec: RFC 3711 §4.2. What is authenticated is the packet and, for RTP, the rollover counter.
    private func tag(_ base: UnsafeMutableRawPointer, _ layout: Layout, _ index: UInt64) -> InlineArray<20, UInt8>? {
        let count = layout.end + (layout.word == nil ? 0 : SRTPHeader.wordSize)
        var tag = InlineArray<20, UInt8>(repeating: 0)
        var written = 0
        guard
            unsafe EVP_MAC_init(self.mac, nil, 0, nil) == 1
                && EVP_MAC_update(self.mac, base.assumingMemoryBound(to: UInt8.self), count) == 1
        else { return nil }
        if layout.word == nil {
            let isDone = unsafe withUnsafeBytes(of: UInt32(truncatingIfNeeded: index >> 16).bigEndian) { round in
                unsafe EVP_MAC_update(self.mac, round.baseAddress?.assumingMemoryBound(to: UInt8.self), 4) == 1
            }
            guard isDone else { return nil }
        }
        let isDone = unsafe withUnsafeMutableBytes(of: &tag) { tag in
            unsafe EVP_MAC_final(self.mac, tag.baseAddress?.assumingMemoryBound(to: UInt8.self), &written, 20) == 1
        }
        return isDone && written == 20 ? tag : nil
    }
}
