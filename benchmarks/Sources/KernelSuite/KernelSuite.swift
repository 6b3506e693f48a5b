public import BenchCases

/// All kernels that are measured.
public enum KernelSuite {
    public static let all: [KernelCase] =
        byteKernels + ProtocolCores.all + soundKernels + roomKernels + pictureKernels
}
