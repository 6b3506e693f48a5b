/// One SRT control packet of a handshake.
///
/// Spec: draft-sharabayko-srt-01 §3.2.1. All words are big-endian; the text of a stream id is stored with the bytes of
/// each word reversed (§3.2.1.3).
package struct SRTHandshake: Sendable, Hashable {
    /// Length in bytes of a handshake packet without its extensions: the header and the fixed fields.
    static let fixedLength = 64
    /// Value of ``type`` in the first exchange of a handshake, in which the listener sends its cookie.
    package static let induction: Int32 = 1
    package static let conclusion: Int32 = -1
    /// Values of ``type`` from 1000 on are refusals; the value minus 1000 is the refusal code.
    package static let refusals: Int32 = 1000
    /// Value of the extension field with which a listener answers an induction (§4.3.1.1).
    static let magic: UInt16 = 0x4A17

    package var version: UInt32
    package var type: Int32
    /// Socket id of the sender, which the other side addresses its packets to.
    package var socketID: UInt32
    package var cookie: UInt32

    /// Reads the fixed fields of a handshake packet; nil if the bytes are no SRT handshake.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.fixedLength, bytes[0] == 0x80, bytes[1] == 0 else { return nil }
        self.version = Self.word(bytes, 16)
        self.type = Int32(bitPattern: Self.word(bytes, 36))
        self.socketID = Self.word(bytes, 40)
        self.cookie = Self.word(bytes, 44)
    }

    /// The fields of a conclusion's extensions that the worker uses.
    package struct Extensions: Sendable, Hashable {
        /// The stream id, which names the stream and its key; nil if it is absent, not UTF-8 or longer than 512 bytes.
        package var streamID: String?
        /// Version of the sender's SRT library as `0x00MMmmpp` (major, minor, patch); 0: absent.
        package var softwareVersion: UInt32 = 0

        package init() {}
    }

    /// Reads the extensions of a conclusion; nil if the extension blocks do not end at the end of the packet.
    package static func extensions(of bytes: [UInt8]) -> Extensions? {
        var extensions = Extensions()
        var offset = Self.fixedLength
        while offset < bytes.count {
            guard bytes.count - offset >= 4 else { return nil }
            let type = UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
            let length = 4 * (Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3]))
            offset += 4
            guard length <= bytes.count - offset else { return nil }
            if type == 1, length >= 4 { extensions.softwareVersion = Self.word(bytes, offset) }
            if type == 5, length <= 512 { extensions.streamID = Self.text(bytes[offset..<offset + length]) }
            offset += length
        }
        return extensions
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        var text: [UInt8] = []
        var word: [UInt8] = []
        for byte in bytes {
            word.append(byte)
            if word.count == 4 {
                text += word.reversed()
                word = []
            }
        }
        while text.last == 0 { text.removeLast() }
        return String(validating: text, as: UTF8.self)
    }

    /// Makes a listener's answer to `request`, an induction.
    package static func inductionAnswer(to request: [UInt8], cookie: UInt32) -> [UInt8] {
        var answer = Self.answer(to: request, type: Self.induction)
        Self.set(&answer, 16, 5)
        Self.set(&answer, 20, UInt32(Self.magic))
        Self.set(&answer, 44, cookie)
        return answer
    }

    /// Makes a listener's refusal of `request`, a conclusion.
    ///
    /// - Parameter code: 1000 and more (SRT Access Control Guidelines), or one of SRT's own codes below 1000.
    package static func refusal(of request: [UInt8], code: Int) -> [UInt8] {
        Self.answer(to: request, type: Self.refusals &+ Int32(clamping: code))
    }

    /// Makes an induction, the first packet of a handshake, with the fields of `request`, a conclusion of the same
    /// sender.
    package static func induction(from request: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](request.prefix(Self.fixedLength))
        Self.set(&bytes, 12, 0)
        Self.set(&bytes, 16, 4)
        Self.set(&bytes, 20, 2)  // no encryption announced; a datagram socket
        Self.set(&bytes, 36, UInt32(bitPattern: Self.induction))
        Self.set(&bytes, 44, 0)
        return bytes
    }

    /// Returns the conclusion packet `request` with its cookie replaced.
    package static func conclusion(_ request: [UInt8], cookie: UInt32) -> [UInt8] {
        var bytes = request
        Self.set(&bytes, 44, cookie)
        return bytes
    }

    private static func answer(to request: [UInt8], type: Int32) -> [UInt8] {
        var bytes = [UInt8](request.prefix(Self.fixedLength))
        Self.set(&bytes, 12, Self.word(request, 40))
        Self.set(&bytes, 36, UInt32(bitPattern: type))
        return bytes
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        guard offset >= 0, offset + 4 <= bytes.count else { return 0 }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func set(_ bytes: inout [UInt8], _ offset: Int, _ value: UInt32) {
        guard offset >= 0, offset + 4 <= bytes.count else { return }
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * index)) }
    }
}
