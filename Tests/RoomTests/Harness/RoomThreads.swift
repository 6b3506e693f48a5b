import Foundation

/// The threads of an in-process room, and their CPU time.
struct RoomThreads {
    /// A tick of /proc, in seconds. proc(5), sysconf(3): _SC_CLK_TCK.
    private static let tick = 1 / Double(sysconf(Int32(_SC_CLK_TCK)))
    private static let names: Set<Substring> = [
        "program", "life", "scenes", "scale", "handover", "package", "publish", "commands", "disk",
    ]

    /// Threads that existed before.
    private let others: Set<String>

    /// Threads started from here on count.
    init() { self.others = Set(Self.all()) }

    private static func all() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    }

    /// CPU time of the room's running threads, in seconds.
    func cpuSeconds() -> Double {
        Self.all().filter { !self.others.contains($0) }.reduce(0) { sum, thread in
            // The name may have spaces: proc(5), /proc/pid/stat.
            guard let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8),
                let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")")
            else { return sum }
            let name = text[text.index(after: open)..<close]
            guard Self.names.contains(name) || name.hasPrefix("enc-") || name.hasPrefix("dec-") else { return sum }
            // After the name: state is the first field, user and system time are the 12th and the 13th.
            let fields = text[close...].split(separator: " ").dropFirst()
            let times = fields.dropFirst(11).prefix(2).compactMap { Double($0) }
            return sum + times.reduce(0, +) * Self.tick
        }
    }
}
