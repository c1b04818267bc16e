# The packages every build needs, as shared or static libraries. mla::fmt and mla::hwy stand for packages that Debian
# ships as shared libraries alone; MLA_BOOST_TEST is what Boost.Test's headers have to be told.
#
# A static build keeps glibc dynamic: a program without a dynamic loader cannot load the GPU driver.
if(MLA_STATIC)
  set(Boost_USE_STATIC_LIBS ON)
  find_library(SQLite3_LIBRARY libsqlite3.a REQUIRED)
  add_link_options(-static-libstdc++ -static-libgcc)
  set(MLA_BOOST_TEST "")
else()
  set(MLA_BOOST_TEST BOOST_TEST_DYN_LINK)
endif()

find_package(Threads REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(hwy REQUIRED)
add_library(mla_fmt INTERFACE)
add_library(mla::fmt ALIAS mla_fmt)
add_library(mla_hwy INTERFACE)
add_library(mla::hwy ALIAS mla_hwy)
if(MLA_STATIC)
  target_link_libraries(SQLite::SQLite3 INTERFACE m ${CMAKE_DL_LIBS} Threads::Threads)
  target_link_libraries(mla_fmt INTERFACE fmt::fmt-header-only)
  # Of Highway's library the kernels need two functions: which targets this CPU has, and the one in use.
  target_sources(mla_hwy INTERFACE ${PROJECT_SOURCE_DIR}/kernels/host/static_targets.cpp)
  target_include_directories(mla_hwy SYSTEM INTERFACE $<TARGET_PROPERTY:hwy::hwy,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  target_link_libraries(mla_fmt INTERFACE fmt::fmt)
  target_link_libraries(mla_hwy INTERFACE hwy::hwy)
endif()
