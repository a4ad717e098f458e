#include "kernels/onednn/isa.h"

namespace bench::onednn {

bool has_isa(dnnl::cpu_isa isa) {
  const auto wanted = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & wanted) == wanted;
}

std::string isa_name() {
  struct Named {
    dnnl::cpu_isa isa;
    const char* name;
  };
  // From the richest to the poorest: the first whose bits are all there.
  for (const Named& named :
       {Named{dnnl::cpu_isa::avx512_core_amx_fp16, "avx512_core_amx_fp16"},
        Named{dnnl::cpu_isa::avx512_core_amx, "avx512_core_amx"},
        Named{dnnl::cpu_isa::avx512_core_fp16, "avx512_core_fp16"},
        Named{dnnl::cpu_isa::avx512_core_bf16, "avx512_core_bf16"},
        Named{dnnl::cpu_isa::avx512_core_vnni, "avx512_core_vnni"},
        Named{dnnl::cpu_isa::avx512_core, "avx512_core"},
        Named{dnnl::cpu_isa::avx2_vnni, "avx2_vnni"}, Named{dnnl::cpu_isa::avx2, "avx2"},
        Named{dnnl::cpu_isa::avx, "avx"}, Named{dnnl::cpu_isa::sse41, "sse41"}}) {
    if (has_isa(named.isa)) {
      return named.name;
    }
  }
  return "generic";
}

}  // namespace bench::onednn
