import Foundation
import HLS

/// One line of a room's standard output.
struct Event: @unchecked Sendable {
    // @unchecked Sendable: the members are read-only property-list values.
    let line: String
    private let members: [String: Any]

    init?(_ line: String) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            return nil
        }
        self.line = line
        self.members = object
    }

    var type: String { self.text("type") ?? "" }
    func text(_ name: String) -> String? { self.members[name] as? String }
    func integer(_ name: String) -> Int? { (self.members[name] as? NSNumber)?.intValue }
    func number(_ name: String) -> Double { (self.members[name] as? NSNumber)?.doubleValue ?? .nan }
    func strings(_ name: String) -> [String] { self.members[name] as? [String] ?? [] }
    func object(_ name: String) -> [String: Any] { self.members[name] as? [String: Any] ?? [:] }
    /// When it happened, in seconds since the Unix epoch.
    var time: Double { Double(self.text("time").flatMap { ProgramDate.parse($0) } ?? 0) / 1e9 }
}
