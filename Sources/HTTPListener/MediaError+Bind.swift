import Glibc
package import MediaTypes
import NIOCore

extension MediaError {
    /// Why bind(2) or listen(2) refused `address`, and what to change.
    package static func bindFailed(_ address: ListenAddress, _ error: any Error, at place: String) -> MediaError {
        let number = (error as? IOError)?.errnoCode ?? 0
        let (what, fix) =
            switch number {
            case EADDRINUSE:
                ("\(address) is taken by another process", "choose another port, or port 0 for any free one")
            case EADDRNOTAVAIL:
                (
                    "\(address) is not an address of this machine",
                    "use 127.0.0.1, 0.0.0.0, or an address that `ip addr` lists"
                )
            case EACCES:
                (
                    "\(address) is not allowed to this user",
                    "use a port of 1024 or above, or a directory you may write to"
                )
            case ENOENT: ("the directory of \(address) does not exist", "create it")
            default: ("\(address) cannot be bound: \(error)", "check host and port")
            }
        return MediaError(.bindFailed, what, at: place, fix: fix)
    }
}
