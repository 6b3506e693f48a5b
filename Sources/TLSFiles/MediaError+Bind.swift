import Libc
package import MediaTypes
import NIOCore

extension MediaError {
    /// Returns the error for a failed bind(2) or listen(2) on `address`, with the reason and what to change.
    package static func bindFailed(_ address: ListenAddress, _ error: any Error, at place: String) -> MediaError {
        let number = (error as? IOError)?.errnoCode ?? 0
        let (what, fix) =
            switch number {
            case EADDRINUSE:
                (
                    "\(address) is in use by another process",
                    "end that process, which may be this room's worker, or choose another port; 0 is any free port"
                )
            case EADDRNOTAVAIL:
                (
                    "\(address) is not an address of this machine",
                    "use 127.0.0.1, 0.0.0.0, or an address that `ip addr` lists"
                )
            case EACCES:
                (
                    "\(address) is not allowed for this user",
                    "use a port of 1024 or above, or a directory that this user can write to"
                )
            case ENOENT: ("the directory of \(address) does not exist", "create the directory")
            default:
                if error is SocketAddressError {
                    ("\(address): no such host", "check the host, or use an address of this machine")
                } else {
                    (
                        "cannot listen on \(address): \(number == 0 ? "\(error)" : Self.text(number))",
                        "check the host and the port"
                    )
                }
            }
        return MediaError(.bindFailed, what, at: place, fix: fix)
    }

    private static func text(_ number: CInt) -> String {
        String(cString: strerror(number)).lowercased()
    }
}
