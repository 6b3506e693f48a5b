import Foundation
import Room
import RoomSources
import Testing

@Suite("The alarm tables of the guide")
struct AlarmGuideTests {
    private static let guides = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources/tandem/Documentation.docc")

    @Test(
        "each of the guide's two alarm tables has every alarm type that rooms raise, once, and no other",
        arguments: [("ControlAPI.md", "## Alarms\n"), ("Troubleshooting.md", "## By alarm\n")])
    func types(page: String, heading: String) throws {
        let text = try String(contentsOf: Self.guides.appendingPathComponent(page), encoding: .utf8)
        let section = try #require(text.components(separatedBy: heading).dropFirst().first)
        let table = section.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("| `") }
        let told = table.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([a-z]+\.[a-z_]+)`/).map { String($0.output.1) }
        }
        let others = [
            "source.recording", "encoder.overload_step", "encoder.fallback", "output.unreachable", "output.refused",
            "output.stalled",
            "output.disk_low",
            "output.damaged", "output.moved", "config.invalid", "commands.not_durable",
            "commands.set_aside", "moderation.failing", CertificateAlarm.type,
        ]
        #expect(Set(told) == Set(SourceHealth.Cause.allCases.map { $0.alarmType } + others))
        #expect(told.count == Set(told).count)
    }
}
