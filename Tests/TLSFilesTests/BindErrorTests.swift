import Glibc
import MediaTypes
import NIOCore
import TLSFiles
import Testing

@Suite("Errors of a listener that cannot open its address")
struct BindErrorTests {
    @Test(
        "a bind error names the address and the reason in words, without a function name or errno",
        arguments: [
            (EADDRINUSE, "is in use by another process"), (EADDRNOTAVAIL, "is not an address of this machine"),
            (EACCES, "is not allowed for this user"), (ENOENT, "the directory of"),
            (EMFILE, "too many open files"), (ENOMEM, "cannot allocate memory"),
        ])
    func inWords(number: CInt, words: String) {
        let address = ListenAddress.tcp(host: "1.2.3.4", port: 1935)
        let error = MediaError.bindFailed(
            address, IOError(errnoCode: number, reason: "bind(descriptor:ptr:bytes:)"), at: "ingest.rtmp.listen")
        #expect(error.code == .bindFailed && error.place == "ingest.rtmp.listen" && !error.fix.isEmpty)
        #expect(error.what.contains(words) && error.what.contains("1.2.3.4:1935"), "\(error.what)")
        #expect(!error.what.contains("bind(") && !error.what.contains("errno"), "\(error.what)")
    }

    @Test("a listen address whose host the resolver does not know gives an error that says so")
    func unknownHost() {
        let address = ListenAddress.tcp(host: "nosuch.invalid", port: 1)
        let error = MediaError.bindFailed(
            address, SocketAddressError.unknown(host: "nosuch.invalid", port: 1), at: "viewer")
        #expect(error.what == "nosuch.invalid:1: no such host")
    }
}
