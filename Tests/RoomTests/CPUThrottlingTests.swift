import Room
import RoomAPI
import Testing

@Suite("CPU throttling of a control group: cgroups(7), cpu.stat")
struct CPUThrottlingTests {
    @Test("the throttled time in cpu.stat of cgroup version 2 is read as microseconds")
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

    @Test("the throttled time in cpu.stat of cgroup version 1 is read as nanoseconds")
    func legacy() {
        let throttling = CPUThrottling(statistics: "nr_periods 3\nnr_throttled 2\nthrottled_time 1234567890\n")
        #expect(throttling.periods == 3 && throttling.throttledPeriods == 2 && throttling.throttled == 1_234_567_890)
    }

    @Test("missing or unreadable values of cpu.stat count as 0; one of Int64.max does not overflow")
    func odd() {
        #expect(CPUThrottling(statistics: "usage_usec 5\nuser_usec 4\n") == CPUThrottling())
        #expect(CPUThrottling(statistics: "nr_periods -1\nnr_throttled x\nthrottled_usec 1 2\n") == CPUThrottling())
        #expect(CPUThrottling(statistics: "throttled_usec \(Int64.max)").throttled == .max)
    }

    @Test("cpu.stat is looked for in the process's own cgroup, then at the root of the hierarchy")
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
