import OpenSSLCrypto
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// libsrtp2, the reference implementation of SRTP, loaded at run time: the program is not linked with it.
final class LibSRTP {
    private typealias Work =
        @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> Int32

    private let session: OpaquePointer
    private let handle: UnsafeMutableRawPointer

    /// The library, or `nil` if this machine does not have it.
    private nonisolated(unsafe) static let library: UnsafeMutableRawPointer? = {
        // Written once, before the first session; srtp_init may be called only once.
        guard let handle = dlopen("libsrtp2.so.1", RTLD_NOW), let address = dlsym(handle, "srtp_init") else {
            return nil
        }
        let initialize = unsafeBitCast(address, to: (@convention(c) () -> Int32).self)
        return initialize() == 0 ? handle : nil
    }()

    /// A session for what is sent or what is received with one key. Ends the test as skipped without the library.
    init(_ profile: SRTPKeys.Profile, key: [UInt8], salt: [UInt8], isSender: Bool) throws {
        struct Failure: Error { let status: Int32 }
        guard let handle = Self.library else { try TestTool.skip("libsrtp2", "install libsrtp2-1") }
        self.handle = handle
        typealias Policy = @convention(c) (UnsafeMutableRawPointer) -> Void
        let name =
            profile == .aes128GCM ? "srtp_crypto_policy_set_aes_gcm_128_16_auth" : "srtp_crypto_policy_set_rtp_default"
        typealias Create = @convention(c) (UnsafeMutablePointer<OpaquePointer?>, UnsafeRawPointer) -> Int32
        let setPolicy = unsafeBitCast(try symbol(handle, name), to: Policy.self)
        let create = unsafeBitCast(try symbol(handle, "srtp_create"), to: Create.self)
        // srtp_policy_t of libsrtp 2: kind of SSRC at 0 (2: any inbound, 3: any outbound), policies of RTP at 8 and of RTCP
        // at 32, pointer to key and salt at 56, window size at 88; 128 bytes.
        let policy = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 8)
        defer { policy.deallocate() }
        policy.initializeMemory(as: UInt8.self, repeating: 0, count: 128)
        policy.storeBytes(of: isSender ? 3 : 2, as: UInt32.self)
        setPolicy(policy + 8)
        setPolicy(policy + 32)
        policy.storeBytes(of: 1_024, toByteOffset: 88, as: UInt.self)
        var session: OpaquePointer?
        var secret = key + salt
        let status = secret.withUnsafeMutableBytes { bytes in
            policy.storeBytes(of: UInt(bitPattern: bytes.baseAddress), toByteOffset: 56, as: UInt.self)
            return create(&session, policy)
        }
        guard status == 0, let session else { throw Failure(status: status) }
        self.session = session
    }

    deinit {
        guard let address = dlsym(self.handle, "srtp_dealloc") else { return }
        _ = unsafeBitCast(address, to: (@convention(c) (OpaquePointer) -> Int32).self)(self.session)
    }

    func protect(_ packet: inout [UInt8], isRTCP: Bool) -> Bool {
        self.run(isRTCP ? "srtp_protect_rtcp" : "srtp_protect", &packet)
    }

    func unprotect(_ packet: inout [UInt8], isRTCP: Bool) -> Bool {
        self.run(isRTCP ? "srtp_unprotect_rtcp" : "srtp_unprotect", &packet)
    }

    private func run(_ name: String, _ packet: inout [UInt8]) -> Bool {
        guard let address = dlsym(self.handle, name) else { return false }
        let function = unsafeBitCast(address, to: Work.self)
        // libsrtp reads and writes words.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: packet.count + 256, alignment: 16)
        defer { memory.deallocate() }
        memory.copyMemory(from: packet, byteCount: packet.count)
        var count = Int32(packet.count)
        guard function(self.session, memory, &count) == 0 else { return false }
        packet = Array(UnsafeRawBufferPointer(start: memory, count: Int(count)))
        return true
    }
}

private struct MissingSymbol: Error { let name: String }

private func symbol(_ handle: UnsafeMutableRawPointer, _ name: String) throws -> UnsafeMutableRawPointer {
    guard let address = dlsym(handle, name) else { throw MissingSymbol(name: name) }
    return address
}
