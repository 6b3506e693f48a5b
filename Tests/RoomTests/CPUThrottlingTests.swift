import Room
import RoomAPI
import Testing

@Suite("CPU throttling of a control group: cgroups(7), cpu.stat")
struct CPUThrottlingTests {
    @Test("version 2 counts in microseconds")
    func unified() {
        let throttling = CPUThrottling(
            statistics: """
                usage_usec 5000000
                user_usec 4000000
                system_usec 1000000
                nr_periods 120
                nr_throttled 7
                throttled_usec 350123
                nr_bursts 0
                burst_usec 0
                """)
        #expect(throttling.periods == 120 && throttling.throttledPeriods == 7)
        #expect(throttling.throttled == 350_123_000)
    }

    @Test("version 1 counts in nanoseconds")
    func legacy() {
        let throttling = CPUThrottling(statistics: "nr_periods 3\nnr_throttled 2\nthrottled_time 1234567890\n")
        #expect(throttling.periods == 3 && throttling.throttledPeriods == 2 && throttling.throttled == 1_234_567_890)
    }

    @Test("without a limit, or with unreadable content, there is no value; nothing overflows")
    func odd() {
        #expect(CPUThrottling(statistics: "usage_usec 5\nuser_usec 4\n") == CPUThrottling())
        #expect(CPUThrottling(statistics: "nr_periods -1\nnr_throttled x\nthrottled_usec 1 2\n") == CPUThrottling())
        #expect(CPUThrottling(statistics: "throttled_usec \(Int64.max)").throttled == .max)
    }

    @Test("cpu.stat is looked for in the process's own group, then at the root, which is the container's group")
    func places() {
        #expect(CPUThrottling.places(membership: "0::/\n") == ["/sys/fs/cgroup/cpu.stat"])
        #expect(
            CPUThrottling.places(membership: "0::/system.slice/tandem@1.service\n") == [
                "/sys/fs/cgroup/system.slice/tandem@1.service/cpu.stat", "/sys/fs/cgroup/cpu.stat",
            ])
        #expect(
            CPUThrottling.places(membership: "9:name=systemd:/\n4:cpu,cpuacct:/kubepods/a:b\n3:cpuset:/\n") == [
                "/sys/fs/cgroup/cpu,cpuacct/kubepods/a:b/cpu.stat", "/sys/fs/cgroup/cpu,cpuacct/cpu.stat",
            ])
        #expect(CPUThrottling.places(membership: "0::/../other\nnonsense\n0:\n").isEmpty)
    }
}
