import LibAV
import Libc
import MediaTypes
package import RTMP
import Threading

/// The directory in which the program that starts rooms writes where the room of each stream key is.
///
/// It contains one file for each key, whose name is the SHA-256 of `APP/KEY` in hexadecimal, so that a listing of the
/// directory reveals no keys. See ``RoomLocation`` for the content. A name that ends with `/` before it is hashed, such
/// as `APP/`, is for all keys below it: keys that the room issues or checks by itself, such as signed ones. The most
/// specific file is used. Files are replaced by rename.
package struct KeyDirectory: Sendable {
    /// What a lookup found.
    package enum Lookup: Sendable, Hashable {
        case found(RoomLocation)
        /// The directory has no file for the key.
        case unknown
        /// The directory or a file in it cannot be used; the reason is for the operator.
        case failed(String)
    }

    /// Maximum number of names that are tried for one key: the key and the paths above it.
    private static let mostNames = 8

    package let path: String

    package init(path: String) { self.path = path }

    /// The file names to try for an address, the most specific one first. The query of the address does not count.
    package static func names(of address: StreamAddress) -> [String] {
        var paths = [address.segments.joined(separator: "/")]
        for count in stride(from: address.segments.count - 1, to: 0, by: -1) where paths.count < Self.mostNames {
            paths.append(address.segments.prefix(count).joined(separator: "/") + "/")
        }
        return paths.map { Self.name(of: $0) }
    }

    /// The file name of a path: `live/key`, or `live/` for all keys of the app `live`.
    package static func name(of path: String) -> String { Hexadecimal.text(Digest.sha256(of: Array(path.utf8))) }

    /// Reads the first file of `names` that exists. Blocks.
    ///
    /// - Parameter names: File names from ``names(of:)``.
    package func location(_ names: [String]) -> Lookup {
        for name in names {
            do throws(FileReading.Failure) {
                let bytes = try FileReading.regular("\(self.path)/\(name)", limit: RoomLocation.longestText)
                guard let location = RoomLocation(parsing: String(decoding: bytes, as: UTF8.self)) else {
                    return .failed("\(name) does not contain HOST:PORT")
                }
                return .found(location)
            } catch {
                guard error == .unreadable(ENOENT) else { return .failed("\(name) \(error.text)") }
            }
        }
        // A directory that is not mounted or not readable must not make a valid key look wrong.
        guard access(self.path, R_OK | X_OK) == 0 else {
            return .failed("\(self.path) \(FileReading.Failure.unreadable(errno).text)")
        }
        return .unknown
    }
}
